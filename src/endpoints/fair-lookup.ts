/**
 * getaddrinfo runs in Node's small thread pool (4 threads, and a running program can't change that), and a name with
 * slow servers occupies a thread for ten seconds or more. So concurrent lookups of one name share one lookup, and names
 * that are slow or were never looked up get only some of the threads. Names that were quick last time get the rest.
 * That is no guarantee: the owner of many names' servers can be quick once and slow later.
 */
import type { LookupAddress } from 'node:dns';
import { LRUCache } from 'lru-cache';
import type { LookupAll } from './resolve.js';

type Callback = Parameters<LookupAll>[2];
type Speed = 'quick' | 'unknown' | 'slow';

/** Limits out of 4 threads: one is left to the rest of the program, which verifies tokens there. */
const MOST: Readonly<Record<Speed, number>> = { quick: 3, unknown: 2, slow: 1 };
const SLOW_MS = 1_000;
const REMEMBERED_NAMES = 10_000;

interface Lookup {
  readonly key: string;
  readonly hostname: string;
  readonly options: Parameters<LookupAll>[1];
  readonly speed: Speed;
  readonly callbacks: Callback[];
}

export function fairLookup(lookup: LookupAll, now: () => number = () => performance.now()): LookupAll {
  const pending = new Map<string, Lookup>();
  const waiting: Lookup[] = [];
  const running: Record<Speed, number> = { quick: 0, unknown: 0, slow: 0 };
  const speeds = new LRUCache<string, Speed>({ max: REMEMBERED_NAMES });

  const mayRun = (speed: Speed): boolean => {
    const { quick, unknown, slow } = running;
    if (quick + unknown + slow >= MOST.quick) return false;
    return speed === 'quick' || (unknown + slow < MOST.unknown && (speed === 'unknown' || slow < MOST.slow));
  };

  const run = (entry: Lookup): void => {
    const began = now();
    running[entry.speed] += 1;
    lookup(entry.hostname, entry.options, (error, addresses) => {
      running[entry.speed] -= 1;
      pending.delete(entry.key);
      speeds.set(entry.hostname, now() - began < SLOW_MS ? 'quick' : 'slow');
      for (const callback of entry.callbacks) callback(error, [...((addresses as LookupAddress[] | undefined) ?? [])]);
      runWaiting();
    });
  };

  const runWaiting = (): void => {
    for (let index = waiting.findIndex(({ speed }) => mayRun(speed)); index !== -1; ) {
      const [entry] = waiting.splice(index, 1);
      if (entry) run(entry);
      index = waiting.findIndex(({ speed }) => mayRun(speed));
    }
  };

  return (hostname, options, callback) => {
    const key = JSON.stringify([hostname, options]);
    const shared = pending.get(key);
    if (shared) {
      shared.callbacks.push(callback);
      return;
    }
    const entry = { key, hostname, options, speed: speeds.get(hostname) ?? 'unknown', callbacks: [callback] };
    pending.set(key, entry);
    waiting.push(entry);
    runWaiting();
  };
}
