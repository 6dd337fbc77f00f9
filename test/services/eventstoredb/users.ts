/** The users of a test server. What is changed counts for the next call: calls that run are not looked at again. */
import type { Caller } from './access.js';

export interface User {
  readonly username: string;
  readonly password: string;
  /** `$admins` and `$ops` are the server's own. */
  readonly groups?: readonly string[];
}

export class Users {
  readonly #byName = new Map<string, User>();

  constructor(...users: readonly User[]) {
    for (const user of users) this.set(user);
  }

  /** Adds it, or changes its password and groups. */
  set(user: User): void {
    this.#byName.set(user.username, user);
  }

  setPassword(username: string, password: string): void {
    const user = this.#byName.get(username);
    if (!user) throw new Error(`there is no user ${username}`);
    this.set({ ...user, password });
  }

  /** @param authorization the header. @returns null for a wrong one */
  rolesOf(authorization: string): Caller | null {
    const [, encoded = ''] = /^Basic (.*)$/.exec(authorization) ?? [];
    const [, username = '', password] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString()) ?? [];
    const user = this.#byName.get(username);
    return user?.password === password && user ? new Set([username, '$all', ...(user.groups ?? [])]) : null;
  }
}
