/** Looks up names: only to allowed addresses, and so that no account's names delay another's. */
import { type LookupAddress, type LookupAllOptions, lookup as systemLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { LRUCache } from 'lru-cache';

/** The subset of dns.lookup used here. */
export type LookupAll = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** The default resolver: getaddrinfo, so the hosts file and the system's settings apply. */
export const lookupAll: LookupAll = (hostname, options, callback) => systemLookup(hostname, options, callback);

/** A host resolves to a forbidden address. The message never says which: that would map our network. */
export class EndpointForbidden extends Error {
  override readonly name = 'EndpointForbidden';
  readonly code = 'ENDPOINT_FORBIDDEN';
  constructor() {
    super('the endpoint is not allowed');
  }
}

/** Receivers have a few. The owner of a name chooses how many there are to check, and to try. */
const MOST_ADDRESSES = 32;

/**
 * A socket's `lookup` that checks all addresses before the connection: one bad address, and the host is refused with
 * EndpointForbidden, so a mixed answer can't be used to reach the bad one. Sockets do not call it for IP literals, and
 * ask for all addresses (autoSelectFamily).
 */
export function guardLookup(lookup: LookupAll, isAllowed: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) callback(error, []);
      else if (addresses.length === 0 || addresses.length > MOST_ADDRESSES) callback(noAddresses(), []);
      else if (!addresses.every(({ address }) => isAllowed(address))) callback(new EndpointForbidden(), []);
      else callback(null, addresses);
    });
  };
}

function noAddresses(): Error {
  return Object.assign(new Error('no address, or too many'), { code: 'ENODATA' });
}

type Callback = Parameters<LookupAll>[2];
export type LookupFor = (...asked: [...Parameters<LookupAll>, accountId: number]) => void;
type Speed = 'quick' | 'unknown' | 'slow';

/** Limits out of 4 threads: one is left to the rest of the program, which verifies tokens there. */
const MOST: Readonly<Record<Speed, number>> = { quick: 3, unknown: 2, slow: 1 };
const SLOW_MS = 1_000;
const REMEMBERED_NAMES = 10_000;
const REMEMBERED_ACCOUNTS = 10_000;

interface Lookup {
  /** The first that asked. */
  readonly accountId: number;
  readonly key: string;
  readonly hostname: string;
  readonly options: Parameters<LookupAll>[1];
  readonly speed: Speed;
  readonly callbacks: Callback[];
}

/**
 * getaddrinfo runs in Node's small thread pool (4 threads, and a running program can't change that), and a name with
 * slow servers occupies a thread for ten seconds or more. So concurrent lookups of one name share one lookup, and names
 * that are slow or were never looked up get only some of the threads. Names that were quick last time get the rest.
 * That is no guarantee: the owner of many names' servers can be quick once and slow later.
 *
 * Of the names that may be slow an account has one looked up at a time, and those that wait take turns by account: twelve
 * new names a minute of one account, whose servers never answer, made a new name of another account wait for minutes.
 */
export function fairLookup(lookup: LookupAll, now: () => number = () => performance.now()): LookupFor {
  const pending = new Map<string, Lookup>();
  const waiting: Lookup[] = [];
  const running: Record<Speed, number> = { quick: 0, unknown: 0, slow: 0 };
  const speeds = new LRUCache<string, Speed>({ max: REMEMBERED_NAMES });
  /** Accounts of the running lookups that may be slow. */
  const busy = new Set<number>();
  /** By account, when its last lookup began: the number of the lookup. */
  const turns = new LRUCache<number, number>({ max: REMEMBERED_ACCOUNTS });
  let begun = 0;

  const mayRun = ({ speed, accountId }: Lookup): boolean => {
    const { quick, unknown, slow } = running;
    if (quick + unknown + slow >= MOST.quick) return false;
    if (speed === 'quick') return true;
    return !busy.has(accountId) && unknown + slow < MOST.unknown && (speed === 'unknown' || slow < MOST.slow);
  };

  const run = (entry: Lookup): void => {
    const began = now();
    running[entry.speed] += 1;
    if (entry.speed !== 'quick') busy.add(entry.accountId);
    begun += 1;
    turns.set(entry.accountId, begun);
    lookup(entry.hostname, entry.options, (error, addresses) => {
      running[entry.speed] -= 1;
      if (entry.speed !== 'quick') busy.delete(entry.accountId);
      pending.delete(entry.key);
      speeds.set(entry.hostname, now() - began < SLOW_MS ? 'quick' : 'slow');
      for (const callback of entry.callbacks) callback(error, [...((addresses as LookupAddress[] | undefined) ?? [])]);
      runWaiting();
    });
  };

  const turnOf = ({ accountId }: Lookup) => turns.get(accountId) ?? 0;
  /** Of the account whose turn is longest ago; its first. */
  const next = (): Lookup | undefined =>
    waiting
      .filter(mayRun)
      .reduce<Lookup | undefined>((first, one) => (first && turnOf(first) <= turnOf(one) ? first : one), undefined);

  const runWaiting = (): void => {
    for (let entry = next(); entry; entry = next()) {
      waiting.splice(waiting.indexOf(entry), 1);
      run(entry);
    }
  };

  return (hostname, options, callback, accountId) => {
    const key = JSON.stringify([hostname, options]);
    const shared = pending.get(key);
    if (shared) {
      shared.callbacks.push(callback);
      return;
    }
    const speed = speeds.get(hostname) ?? 'unknown';
    const entry = { accountId, key, hostname, options, speed, callbacks: [callback] };
    pending.set(key, entry);
    waiting.push(entry);
    runWaiting();
  };
}
