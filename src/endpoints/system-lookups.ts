/**
 * Lookups by the system (getaddrinfo), for names that no name server has. They run in Node's thread pool of four threads, which
 * also verifies tokens and reads files, and a slow name occupies a thread for ten seconds or more. So two run concurrently, one
 * per account, and accounts take turns. Nobody waits longer than they say: with many accounts whose names are slow, a name whose
 * name servers failed once would stay in the queue for minutes.
 */
import type { LookupAddress } from 'node:dns';
import { RoundRobin } from '../limits/round-robin.js';
import type { LookupAll } from './guarded-lookup.js';

const MAX_CONCURRENT = 2;

export class SystemLookups {
  readonly #lookup: LookupAll;
  /** Accounts. */
  readonly #running = new Set<string>();
  readonly #waiting = new RoundRobin<() => void>();

  constructor(lookup: LookupAll) {
    this.#lookup = lookup;
  }

  /** @throws the errors of dns.lookup, Error after `withinMs` */
  find(hostname: string, accountId: number, withinMs: number): Promise<LookupAddress[]> {
    const account = String(accountId);
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        this.#waiting.remove(account, run);
        reject(new Error(`the system did not find ${hostname} within ${withinMs} ms`));
      }, withinMs).unref();
      const run = () => {
        this.#running.add(account);
        this.#lookup(hostname, { all: true }, (error, addresses) => {
          clearTimeout(late);
          if (error) reject(error);
          else resolve(addresses);
          this.#running.delete(account);
          this.#runNext();
        });
      };
      this.#waiting.add(account, run);
      this.#runNext();
    });
  }

  #runNext(): void {
    while (this.#running.size < MAX_CONCURRENT) {
      const run = this.#waiting.next((account) => !this.#running.has(account));
      if (!run) return;
      run();
    }
  }
}
