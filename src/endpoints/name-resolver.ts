/**
 * Resolves the host names of endpoints: by the hosts file, then by name servers (c-ares, which uses sockets and no threads), so
 * that a slow name server delays only its own names. Nothing waits in a queue.
 *
 * A name is resolved as written: search domains do not apply. Responses are cached for their TTL, within bounds, and checked by
 * the connector at each connection, cached or not.
 */
import type { LookupAddress, RecordWithTtl } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { LRUCache } from 'lru-cache';
import { type LookupFor, MAX_ADDRESSES } from './guarded-lookup.js';
import { ChangingFile, HostsFile } from './hosts-file.js';
import type { SystemLookups } from './system-lookups.js';

const MIN_TTL_MS = 1_000;
const MAX_TTL_MS = 300_000;
/** Of a name that does not exist, or only for the system. Failures of name servers are not cached. */
const NEGATIVE_TTL_MS = 2_000;
const MAX_CACHED_NAMES = 20_000;
/** A name server that drops queries for one family delays the addresses of the other for this long. */
const OTHER_FAMILY_MS = 500;
/** c-ares retries lost packets, from 2 s on, or sooner at name servers that usually respond fast. */
const QUERIES = { timeout: 2_000, tries: 4 };

export interface NameResolverOptions {
  /** ms per name, well below an attempt's deadline. */
  readonly limitMs: number;
  /** ms of a monotonic clock */
  readonly now: () => number;
  /** For names that only the system can resolve. */
  readonly system?: SystemLookups;
  /** `address:port` of name servers, instead of those of resolv.conf. */
  readonly servers?: readonly string[];
  readonly hostsFile?: string;
  readonly resolverFile?: string;
}

interface Cached {
  /** Empty if the name has none. */
  readonly addresses: readonly LookupAddress[];
  /** By `now`. */
  readonly until: number;
}

type Found = { readonly records: readonly RecordWithTtl[] } | { readonly error: NodeJS.ErrnoException };

export class NameResolver {
  readonly #options: NameResolverOptions;
  readonly #hosts: HostsFile;
  readonly #resolverFile: ChangingFile;
  readonly #cache = new LRUCache<string, Cached>({ max: MAX_CACHED_NAMES });
  /** Concurrent lookups of one name share their queries. */
  readonly #pending = new Map<string, Promise<readonly LookupAddress[]>>();
  #resolver = new Resolver(QUERIES);

  constructor(options: NameResolverOptions) {
    this.#options = options;
    const { hostsFile = '/etc/hosts', resolverFile = '/etc/resolv.conf', now } = options;
    this.#hosts = new HostsFile(hostsFile, now);
    this.#resolverFile = new ChangingFile(resolverFile, now);
  }

  readonly lookup: LookupFor = (hostname, _, callback, accountId) => {
    this.#find(hostname.toLowerCase(), accountId).then(
      (addresses) => callback(null, [...addresses]),
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };

  /** Ends the queries in progress. */
  close(): void {
    this.#resolver.cancel();
  }

  async #find(name: string, accountId: number): Promise<readonly LookupAddress[]> {
    const listed = this.#hosts.find(name);
    if (listed.length > 0) return listed;
    const cached = this.#cache.get(name);
    if (cached && this.#options.now() < cached.until) return foundIn(cached, name);
    const pending = this.#pending.get(name) ?? this.#resolve(name, accountId);
    this.#pending.set(name, pending);
    return pending;
  }

  async #resolve(name: string, accountId: number): Promise<readonly LookupAddress[]> {
    try {
      const answer = await this.#query(name).catch((error: unknown) => this.#bySystem(name, accountId, error));
      const known = answer.addresses.length === 0 ? await this.#bySystem(name, accountId, null) : answer;
      this.#cache.set(name, known);
      return foundIn(known, name);
    } finally {
      this.#pending.delete(name);
    }
  }

  /** @throws the error that name servers failed with, unless the system has the name */
  async #bySystem(name: string, accountId: number, failure: unknown): Promise<Cached> {
    const { system, limitMs } = this.#options;
    const found = await system?.find(name, accountId, limitMs).catch(() => []);
    if (!found?.length && failure) throw failure;
    return this.#cached(found ?? [], NEGATIVE_TTL_MS);
  }

  /** @throws NameServersFailed */
  async #query(name: string): Promise<Cached> {
    const resolver = this.#current();
    const queries = [resolver.resolve4(name, { ttl: true }), resolver.resolve6(name, { ttl: true })];
    const found = await settledWithin(queries, this.#options.limitMs);
    const records = found.flatMap((one) => ('records' in one ? one.records : []));
    if (records.length > 0) {
      return this.#cached(toAddresses(records), Math.min(Math.max(ttlMsOf(records), MIN_TTL_MS), MAX_TTL_MS));
    }
    if (found.length === queries.length && found.every(isAbsent)) return this.#cached([], NEGATIVE_TTL_MS);
    throw new NameServersFailed(found);
  }

  #cached(addresses: readonly LookupAddress[], ttlMs: number): Cached {
    return { addresses, until: this.#options.now() + ttlMs };
  }

  /** c-ares reads resolv.conf once. */
  #current(): Resolver {
    const { servers } = this.#options;
    if (this.#resolverFile.hasChanged()) {
      this.#resolver = new Resolver(QUERIES);
      if (servers) this.#resolver.setServers(servers);
    }
    return this.#resolver;
  }
}

/** c-ares has ECONNREFUSED, ETIMEOUT and others for what happens between us and the name servers, not at the receiver. */
class NameServersFailed extends Error {
  override readonly name = 'NameServersFailed';
  readonly code = 'EAI_AGAIN';
  constructor(found: readonly Found[]) {
    const codes = found.flatMap((one) => ('error' in one ? [one.error.code] : []));
    super(`no response from the name servers: ${codes.join(', ') || 'timeout'}`);
  }
}

function foundIn({ addresses }: Cached, name: string): readonly LookupAddress[] {
  if (addresses.length > 0) return addresses;
  throw Object.assign(new Error(`${name} has no address`), { code: 'ENOTFOUND' });
}

/** Node leaves out the TTL of all addresses after the 256th. With it as NaN, 4,000 addresses were resolved for each connection. */
function ttlMsOf(records: readonly Partial<RecordWithTtl>[]): number {
  return 1_000 * Math.min(...records.flatMap(({ ttl }) => ttl ?? []));
}

function isAbsent(found: Found): boolean {
  return 'error' in found && (found.error.code === 'ENOTFOUND' || found.error.code === 'ENODATA');
}

/**
 * IPv4 first: a host without IPv4 fails to connect to it immediately, but a broken route to IPv6 costs seconds. One address more
 * than the connector accepts shows it that there are too many. Exported for the tests.
 */
export function toAddresses(records: readonly RecordWithTtl[]): readonly LookupAddress[] {
  const addresses = records.map(({ address }) => ({ address, family: address.includes(':') ? 6 : 4 }));
  return addresses.sort((one, other) => one.family - other.family).slice(0, MAX_ADDRESSES + 1);
}

/** Resolves with what was found when both families have responded, or one has and the other is late, or the time is up. */
function settledWithin(queries: readonly Promise<RecordWithTtl[]>[], limitMs: number): Promise<readonly Found[]> {
  return new Promise((resolve) => {
    const found: Found[] = [];
    const end = () => {
      clearTimeout(timer);
      resolve([...found]);
    };
    let timer = setTimeout(end, limitMs);
    const add = (one: Found) => {
      found.push(one);
      if (found.length === queries.length) end();
      else if ('records' in one) {
        clearTimeout(timer);
        timer = setTimeout(end, Math.min(limitMs, OTHER_FAMILY_MS));
      }
    };
    for (const query of queries)
      query.then(
        (records) => add({ records }),
        (error) => add({ error }),
      );
  });
}
