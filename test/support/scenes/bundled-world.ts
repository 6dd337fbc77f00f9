/**
 * One URL and its deliveries in virtual time, from payment to end: the real delivery, scheduler, bundles and unpacking, on tiers
 * that are first in, first out. Without CPU and memory: only waits take time.
 */

import { newDelivery } from '../../../src/delivery/delivery.js';
import { createDeliver, type DeliverParts } from '../../../src/delivery/delivery-attempt.js';
import { CircuitBreakers } from '../../../src/delivery/isolation/circuit-breaker.js';
import { LogWriter } from '../../../src/delivery/log/log-writer.js';
import { waitOf } from '../../../src/delivery/retry/bundle.js';
import { BundleWriter } from '../../../src/delivery/retry/bundle-writer.js';
import { BundlePassing } from '../../../src/delivery/retry/passing.js';
import { Unpacking } from '../../../src/delivery/retry/unpacking.js';
import { eachStepOnce } from '../../../src/delivery/steps-once.js';
import type { NewRecord, ReceivedRecord } from '../../../src/ports/broker.js';
import { testScheduler } from '../clocks/test-scheduler.js';
import { VirtualClock } from '../clocks/virtual-clock.js';
import { decoded } from '../generators/bundles.js';
import { DELIVERED, EVENT, failedWith, NOW, named, received } from '../generators/delivery-samples.js';
import { RecordingBroker } from '../servers/recording-broker.js';
import { DeliverFixture, OWN } from './deliver-fixture.js';
import { webhookOf } from './fake-accounts.js';
import { silentLogger } from './silent-logger.js';

const STEP_MS = 5;
/** As in production, where the lines of deferred deliveries are at debug. */
const QUIET = { ...silentLogger, isLevelEnabled: () => false };
const RANDOM = () => 0.5;

class FifoTopics extends RecordingBroker {
  readonly #waiting = new Map<string, ReceivedRecord[]>();
  /** To tiers. */
  written = 0;
  deadLetters = 0;

  override async publish(topic: string, records: readonly NewRecord[]): Promise<readonly number[]> {
    if (topic === 'webhooks.dead-letter') this.deadLetters += records.length;
    if (!/\.(retry|deferred)\./.test(topic)) return records.map(() => 0);
    const waiting = this.#waiting.get(topic) ?? [];
    this.#waiting.set(topic, waiting);
    for (const record of records) waiting.push(received(record, { topic }));
    this.written += records.length;
    return records.map(() => 0);
  }

  /** Removes those that are due, in each topic up to the first that is not. */
  takeDue(now: number): ReceivedRecord[] {
    return [...this.#waiting.values()].flatMap((waiting) => {
      const next = waiting.findIndex((record) => waitOf(record).due > now);
      return waiting.splice(0, next === -1 ? waiting.length : next);
    });
  }
}

export class BundledWorld {
  readonly clock = new VirtualClock();
  readonly broker = new FifoTopics();
  /** When each delivery was delivered, ms. */
  readonly deliveredAt: number[] = [];
  readonly #first: ReturnType<typeof createDeliver>;
  readonly #passing: BundlePassing;
  readonly #unpacking: Unpacking;
  #published = 0;

  /**
   * @param accepts whether the URL accepts an attempt that starts at that time; it responds after `ms`
   * @param changes the schedule, and the timeout of an attempt
   */
  constructor(
    ms: number,
    accepts: (now: number) => boolean,
    changes: Partial<Pick<DeliverParts, 'schedule' | 'timeoutMs'>> = {},
  ) {
    const { broker, clock } = this;
    const later = (flush: () => void) => clock.after(25, flush);
    const now = () => NOW + clock.now();
    const breakers = new CircuitBreakers({ now: clock.now, random: RANDOM });
    const scheduler = testScheduler({ slots: 256, perEndpoint: 16, clock, breakers });
    const fixture = new DeliverFixture({
      logger: QUIET,
      broker,
      scheduler,
      now,
      monotonicNow: clock.now,
      random: RANDOM,
      ...changes,
    });
    fixture.accounts.put(webhookOf(1));
    fixture.answer = async () => {
      const isAccepted = accepts(clock.now());
      await new Promise<void>((resolve) => void clock.after(ms, resolve));
      if (isAccepted) this.deliveredAt.push(clock.now());
      return isAccepted ? DELIVERED : failedWith(500);
    };
    const { abandon, refused, logger, topics } = fixture.parts;
    const signals = { broker, logger, abandon, refused, later };
    const log = new LogWriter({ ...signals, topic: topics.deliveries, store: 'store-1' });
    const parts = { ...fixture.parts, log, bundles: new BundleWriter(signals) };
    this.#first = createDeliver(parts);
    const retry = eachStepOnce(this.#first);
    const { retry: own, deferred } = topics.tiers(fixture.parts.schedule);
    this.#passing = new BundlePassing(parts, [...own, ...deferred]);
    this.#unpacking = new Unpacking({
      deliver: retry,
      mayContinue: () => true,
      refuse: async () => Promise.reject(new Error('a tier has what is not a bundle')),
      later: (passed, afterMs) => void clock.after(afterMs, passed),
    });
  }

  publish(count: number): void {
    for (let n = 0; n < count; n += 1) {
      const event = { ...EVENT, id: `pay-${this.#published}` };
      const record = received(
        { key: null, value: Buffer.from(JSON.stringify(event)), headers: [] },
        { offset: this.#published },
      );
      this.#published += 1;
      void this.#first(newDelivery(event, named(1), record), OWN);
    }
  }

  /** @param perSecond payments that arrive meanwhile */
  async pass(ms: number, perSecond = 0): Promise<void> {
    for (let passed = 0, due = 0; passed < ms; passed += STEP_MS) {
      due += (perSecond * STEP_MS) / 1_000;
      this.publish(Math.floor(due));
      due -= Math.floor(due);
      await this.clock.goOn(STEP_MS);
      for (const record of this.broker.takeDue(NOW + this.clock.now())) void this.#take(record);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async #take(record: ReceivedRecord): Promise<void> {
    const bundle = decoded(record);
    if (!(await this.#passing.passOn(bundle, this.#unpacking.hasRoom(record))))
      await this.#unpacking.unpack(bundle, { ...OWN });
  }

  get published(): number {
    return this.#published;
  }
}
