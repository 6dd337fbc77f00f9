/** The users of a test server, and who may do what to which stream. */
import { type Metadata, ServerInterceptingCall, type ServerInterceptor, status } from '@grpc/grpc-js';
import { accessDenied } from './calls.js';
import type { Roles, StoredAcl, StoredData } from './stored-data.js';

export interface User {
  readonly username: string;
  readonly password: string;
  /** `$admins` and `$ops` are the server's own. */
  readonly groups?: readonly string[];
}

export type Right = 'read' | 'write';

/** The roles of a user: its name, its groups, and what everybody is. */
export type Caller = ReadonlySet<string>;

const EVERYBODY = '$all';
const ADMINS = '$admins';
/** What projections write: the server lets every user read it. */
const EMITTED = /^\$(ce|et|bc|category)-|^\$streams$|^\$projections-.+-result$/;
const KEYS = { read: '$r', write: '$w' } as const;
const OF_METADATA = { read: '$mr', write: '$mw' } as const;

/** What is changed counts for the next call: calls that run are not looked at again. */
export class Users {
  readonly #byName = new Map<string, User>();

  constructor(...users: readonly User[]) {
    for (const user of users) this.#byName.set(user.username, user);
  }

  setPassword(username: string, password: string): void {
    const user = this.#byName.get(username);
    if (!user) throw new Error(`there is no user ${username}`);
    this.#byName.set(username, { ...user, password });
  }

  /** @param authorization the header. @returns null for a wrong one */
  rolesOf(authorization: string): Caller | null {
    const [, encoded = ''] = /^Basic (.*)$/.exec(authorization) ?? [];
    const [, username = '', password] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString()) ?? [];
    const user = this.#byName.get(username);
    return user?.password === password && user ? new Set([username, EVERYBODY, ...(user.groups ?? [])]) : null;
  }
}

/**
 * By the stream's access control list, else by default (the stream `$settings`, which may change that, is left out).
 * Members of $admins may do everything. Without users everybody may.
 */
export class Access {
  readonly #users: Users | undefined;
  readonly #data: () => StoredData;

  constructor(users: Users | undefined, data: () => StoredData) {
    this.#users = users;
    this.#data = data;
  }

  /** As it is now: a call that runs on keeps what it got, whatever becomes of the password. */
  callerOf(metadata: Metadata): Caller {
    if (!this.#users) return new Set([ADMINS]);
    return this.#users.rolesOf(`${metadata.get('authorization')[0]}`) ?? new Set();
  }

  allows(caller: Caller, right: Right, stream: string): boolean {
    if (caller.has(ADMINS)) return true;
    const allowed = this.#rolesFor(right, stream);
    return (typeof allowed === 'string' ? [allowed] : allowed).some((role) => caller.has(role));
  }

  mayChangeProjections(metadata: Metadata): boolean {
    const caller = this.callerOf(metadata);
    return caller.has(ADMINS) || caller.has('$ops');
  }

  /** @throws RpcError */
  must(metadata: Metadata, right: Right, stream: string): void {
    if (!this.allows(this.callerOf(metadata), right, stream)) throw accessDenied();
  }

  #rolesFor(right: Right, stream: string): Roles {
    const isMetadata = stream.startsWith('$$');
    const about = isMetadata ? stream.slice(2) : stream;
    const key = isMetadata ? OF_METADATA[right] : KEYS[right];
    return this.#data().acl(about)[key] ?? byDefault(about, key);
  }
}

function byDefault(stream: string, key: keyof StoredAcl): Roles {
  if (!stream.startsWith('$')) return EVERYBODY;
  if (key === '$r' && EMITTED.test(stream)) return EVERYBODY;
  return stream === '$all' ? ADMINS : [ADMINS, '$ops'];
}

const UNAUTHENTICATED = { code: status.UNAUTHENTICATED, details: 'Bad HTTP status: 401' };
/** What a client asks before it sends credentials. */
const FREE = /\.(ServerFeatures|Gossip)\//;

export function checkingCredentials(users: Users | undefined): ServerInterceptor {
  const refusal = (given: unknown) => {
    if (users && given && !users.rolesOf(`${given}`)) return UNAUTHENTICATED;
    return users && !given ? accessDenied() : null;
  };
  return ({ path }, call) =>
    new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMetadata: (metadata, pass) => {
            const refused = FREE.test(path) ? null : refusal(metadata.get('authorization')[0]);
            if (refused) call.sendStatus(refused);
            else pass(metadata);
          },
        }),
    });
}
