/**
 * An account that is well, beside others: each of its payments goes to three receivers, which answer after so many ms. A
 * delivery's time is from when its payment was due until it was answered.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Settings } from '../../test/support/clients/service.js';
import { certificateFor } from '../../test/support/servers/certificates.js';
import type { handlers as publisherHandlers } from '../processes/publisher.js';
import type { handlers as receiverHandlers } from '../processes/receivers.js';
import { Child } from './child.js';

const URLS = 3;
const ARRIVED_WITHIN_MS = 15_000;
const LOOK_EVERY_MS = 20;

export interface Publishing {
  readonly perSecond: number;
  readonly seconds: number;
}

export class HealthyAccount {
  readonly id: number;
  readonly urls: readonly string[];
  readonly #receivers: Child<typeof receiverHandlers>;
  #publisher: Child<typeof publisherHandlers> | null = null;

  private constructor(id: number, urls: readonly string[], receivers: Child<typeof receiverHandlers>) {
    this.id = id;
    this.urls = urls;
    this.#receivers = receivers;
  }

  static async open(id: number, answersAfterMs: number): Promise<HealthyAccount> {
    const receivers: Child<typeof receiverHandlers> = await Child.start('receivers');
    const given = { ports: Array(URLS).fill(0), ...(await certificateFor(['localhost'])) };
    const ports = await receivers.ask('listen', given);
    const urls = ports.map((port) => `https://localhost:${port}/after${answersAfterMs}`);
    return new HealthyAccount(id, urls, receivers);
  }

  /** @param settings of the installation, whose service runs */
  async ready(settings: Settings): Promise<void> {
    await this.#receivers.ask('timed');
    const publisher: Child<typeof publisherHandlers> = await Child.start('publisher');
    this.#publisher = publisher;
    await publisher.ask('open', { settings, accounts: { first: this.id, count: 1 } });
  }

  /** @returns ms of each delivery; Infinity for one that did not come within 15 s of the last payment */
  async publishes(publishing: Publishing): Promise<readonly number[]> {
    const published = (await this.#publisher?.ask('publishSteadily', publishing)) ?? 0;
    const times: number[] = [];
    const deadline = performance.now() + ARRIVED_WITHIN_MS;
    for (;;) {
      times.push(...(await this.#receivers.ask('latencies')));
      const missing = URLS * published - times.length;
      if (missing <= 0) return times;
      if (performance.now() > deadline) return [...times, ...Array(missing).fill(Number.POSITIVE_INFINITY)];
      await delay(LOOK_EVERY_MS);
    }
  }

  /** Ends `publishes` at the next payment. */
  async endPublishing(): Promise<void> {
    await this.#publisher?.ask('publishNoMore');
  }

  /** @returns ms, from then to its first delivery */
  async firstMs(since: number): Promise<number> {
    while ((await this.#receivers.ask('sample')).answered === 0) {
      if (performance.now() - since > ARRIVED_WITHIN_MS) return Number.POSITIVE_INFINITY;
      await delay(LOOK_EVERY_MS);
    }
    return performance.now() - since;
  }

  async stop(): Promise<void> {
    await Promise.all([this.#publisher?.stop(), this.#receivers.stop()]);
  }
}
