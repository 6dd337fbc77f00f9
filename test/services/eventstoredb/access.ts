/**
 * Who may do what to which stream: by the stream's access control list, else by default (the stream `$settings`, which may
 * change that, is left out).
 * Members of $admins may do everything. Without users everybody may.
 */
import type { Metadata } from '@grpc/grpc-js';
import { accessDenied } from './calls.js';
import type { Roles, StoredAcl, StoredData } from './stored-data.js';
import type { Users } from './users.js';

export type Right = 'read' | 'write' | 'delete';

/** The roles of a user: its name, its groups, and what everybody is. */
export type Caller = ReadonlySet<string>;

const EVERYBODY = '$all';
const ADMINS = '$admins';
/** What projections write: the server lets every user read it. */
const EMITTED = /^\$(ce|et|bc|category)-|^\$streams$|^\$projections-.+-result$/;
const KEYS = { read: '$r', write: '$w', delete: '$d' } as const;
const OF_METADATA = { read: '$mr', write: '$mw', delete: '$mw' } as const;

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
