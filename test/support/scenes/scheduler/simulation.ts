/**
 * A scheduler in virtual time: deliveries come, wait, are attempted, fail and come back from a tier. The process has one
 * thread (processor.ts). The scheduler sees of it what a process can measure.
 */
import { Backpressure } from '../../../../src/delivery/backpressure.js';
import { CircuitBreakers, type EndpointSignal } from '../../../../src/delivery/isolation/circuit-breaker.js';
import { DeliveryScheduler } from '../../../../src/delivery/isolation/delivery-scheduler.js';
import type { Acquired, Deferred } from '../../../../src/delivery/isolation/endpoint.js';
import { VirtualClock } from '../../clocks/virtual-clock.js';
import { seeded } from '../../generators/seeded.js';
import type { Delivery, Group } from './group.js';
import { Processor } from './processor.js';
import { Tiers } from './tiers.js';
import { Topic } from './topic.js';

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
/** The schedule of failures. */
const RETRIES = [5 * SECOND, 5 * MINUTE];
const JITTER = 0.1;
const REFUSED_AT_LEAST = SECOND;
const UNCOUNTED_IN_A_ROW = 20;
const PER_ENDPOINT = 16;
const SLOTS = 256;
const BYTES = 1_000;
/** Of deliveries in bundles that wait to be unpacked. */
const MAX_UNPACKED = (32 * 1024 * 1024) / BYTES;
/** Measured: what a bundle costs besides its deliveries, where they cost anything. */
const RECORD_MS = 0.15;

/** What an endpoint makes of an attempt. */
export interface Answer {
  readonly ms: number;
  readonly signal: EndpointSignal;
  readonly retryAfterMs?: number;
  /** What it costs this process at least, in a scenario with CPU. */
  readonly cpuMs?: number;
  /** It closes the connection, also after a success. */
  readonly closes?: boolean;
  /** It keeps the connection, also after a failure. */
  readonly keeps?: boolean;
}

export type Manner = (now: number) => Answer;

export interface Endpoint {
  readonly accountId: number;
  readonly url: string;
  readonly manner: Manner;
  readonly isUrgent?: boolean;
}

export interface Played {
  readonly seed: number;
  readonly hasCpu: boolean;
  /** What a deferral costs besides its bundle's record: it is decided, written and parsed again. */
  readonly deferralMs: number;
  /** Payments are records of a topic. Without it, their deliveries come at once, whatever the process has to do. */
  readonly hasTopic: boolean;
}

export class Simulation {
  readonly clock = new VirtualClock();
  readonly processor: Processor;
  readonly scheduler: DeliveryScheduler;
  /** Of what comes: the same whatever the scheduler does. */
  readonly random: () => number;
  readonly #jitter: () => number;

  readonly #deferralMs: number;
  readonly #tiers: Tiers;
  readonly #topic: Topic | null;

  constructor({ seed, hasCpu, deferralMs, hasTopic }: Played) {
    const { clock } = this;
    this.#deferralMs = deferralMs;
    this.random = randomOf(seed);
    this.#jitter = randomOf(seed + 1_000_000);
    this.processor = new Processor({ now: clock.now, perEndpoint: PER_ENDPOINT, hasCpu });
    const breakers = new CircuitBreakers({ now: clock.now, random: randomOf(seed + 2_000_000) });
    const own = { now: clock.now, after: this.#after, close: () => undefined };
    const { busyMs } = this.processor;
    const limits = { slots: SLOTS, perEndpoint: PER_ENDPOINT };
    this.scheduler = new DeliveryScheduler({ ...limits, clock: own, breakers, busyMs, idleTo: this.processor.idleTo });
    const { endpoints: queues } = this.scheduler;
    const slotsAreShort = () => this.scheduler.slotsAreShort;
    const backpressure = new Backpressure({ queues, slotsAreShort, busyMs, now: clock.now });
    const ask = backpressure.asker();
    const mayContinue = () => ask();
    const { now, after } = clock;
    const { processor } = this;
    const recordMs = deferralMs > 0 ? RECORD_MS : 0;
    this.#tiers = new Tiers({ mayContinue, processor, recordMs, now, after, maxQueued: MAX_UNPACKED });
    this.#topic = hasTopic ? new Topic({ mayBegin: backpressure.asker(), processor, now, after }) : null;
  }

  at(ms: number, begin: () => void): void {
    this.clock.after(ms - this.clock.now(), begin);
  }

  /** A payment to these endpoints of an account. */
  publish(endpoints: readonly Endpoint[], group: Group): void {
    const came = endpoints.map((to) => ({ to, group, delivery: group.came(to.url, this.clock.now()) }));
    const consume = () => Promise.all(came.map((one) => this.#firstStep(one)));
    if (this.#topic) this.#topic.publish({ turn: String(endpoints[0]?.accountId), consume });
    else void consume();
  }

  /** @returns fulfilled when it was attempted or deferred */
  #firstStep({ to, group, delivery }: { readonly to: Endpoint; readonly group: Group; readonly delivery: Delivery }) {
    return new Promise<void>((stepped) => void this.#deliver(to, group, delivery, stepped));
  }

  /** Until it was delivered, or its schedule is exhausted. */
  async #deliver(to: Endpoint, group: Group, delivery: Delivery, stepped: () => void): Promise<void> {
    for (let failures = 0, uncounted = 0; ; ) {
      const acquired = await this.#acquire(to, delivery, group, stepped);
      const { signal, retryAfterMs = 0 } = await this.#attempt(to, acquired, delivery, group);
      stepped();
      if (signal === 'succeeded') {
        group.succeeded(delivery, this.clock.now());
        return;
      }
      const isLast = RETRIES[failures] === undefined;
      const isCounted = signal !== 'refused' || (acquired.isFailing && !isLast) || uncounted >= UNCOUNTED_IN_A_ROW;
      if (isCounted) failures += 1;
      uncounted = isCounted ? 0 : uncounted + 1;
      const retryMs = isCounted ? RETRIES[failures - 1] : REFUSED_AT_LEAST;
      if (retryMs === undefined) return;
      const ms = this.#jittered(Math.max(retryMs, retryAfterMs));
      await new Promise<void>((unpacked) => this.#tiers.retry(to.accountId, ms, unpacked));
    }
  }

  async #acquire(to: Endpoint, delivery: Delivery, group: Group, stepped: () => void): Promise<Acquired> {
    for (let hadTurn = false; ; ) {
      await this.#turn();
      const now = this.clock.now();
      const awayMs = delivery.firstDeferredAt === null ? 0 : now - delivery.firstDeferredAt;
      const result = await this.scheduler.acquire(to.accountId, to.url, {
        bytes: BYTES,
        awayMs,
        isUrgent: to.isUrgent ?? false,
        hadTurn,
      });
      if (result.kind === 'acquired') return result;
      hadTurn = result.why === 'queue';
      group.deferred(delivery, this.clock.now());
      await this.#pass(this.processor.works(this.#deferralMs));
      await this.#waitElsewhere(to, delivery, result, stepped);
    }
  }

  /** Fulfilled when it is unpacked. */
  #waitElsewhere(
    to: Endpoint,
    { firstDeferredAt }: Delivery,
    { why, pausedMs, turnMs }: Deferred,
    durable: () => void,
  ): Promise<void> {
    const { accountId, url, isUrgent = false } = to;
    const awayMs = why === 'endpoint-failing' ? this.clock.now() - (firstDeferredAt ?? this.clock.now()) : null;
    const deferral = { accountId, endpoint: `${accountId} ${url}`, isUrgent, pausedMs, turnMs, awayMs };
    return new Promise((unpacked) => void this.#tiers.defer(deferral, unpacked).then(durable));
  }

  async #attempt(to: Endpoint, acquired: Acquired, delivery: Delivery, group: Group): Promise<Answer> {
    const { processor, clock, scheduler } = this;
    group.began(delivery);
    const hasConnected = processor.connects(to.url);
    const answer = to.manner(clock.now());
    const { signal, retryAfterMs = 0, closes = false, keeps = false } = answer;
    const { toBeginMs, ofAnswerMs } = processor.costOf(hasConnected, answer.cpuMs);
    await this.#pass(processor.works(toBeginMs));
    const isConnected = signal !== 'unreachable' && signal !== 'tls-failed';
    if (hasConnected && isConnected) scheduler.connected(to.accountId, to.url);
    await this.#pass(answer.ms);
    // Also without cost of its own it comes after what the thread has to do before it.
    await this.#pass(processor.works(ofAnswerMs));
    group.ended(delivery, clock.now());
    if (signal === 'refused') group.refusedAt.push(clock.now());
    const isKept = keeps || ((signal === 'succeeded' || signal === 'refused') && !closes);
    if (isKept) processor.keeps(to.url);
    else if (isConnected) scheduler.disconnected(to.accountId, to.url);
    acquired.ended({ signal, retryAfterMs });
    acquired.leave();
    if (isKept) scheduler.freed(to.accountId, to.url);
    return answer;
  }

  /** Nothing is done before what was asked of the thread is. */
  async #turn(): Promise<void> {
    const lateMs = this.processor.lateMs();
    if (lateMs > 0) await this.#pass(lateMs);
  }

  /** The process's own timers are as late as its thread is. */
  readonly #after = (ms: number, passed: () => void) => {
    let stop = this.clock.after(ms, () => {
      const lateMs = this.processor.lateMs();
      if (lateMs > 0) stop = this.clock.after(lateMs, passed);
      else passed();
    });
    return () => stop();
  };

  #jittered(ms: number): number {
    return ms * (1 + JITTER * this.#jitter());
  }

  #pass(ms: number): Promise<void> {
    return new Promise((resolve) => void this.clock.after(ms, resolve));
  }
}

function randomOf(seed: number): () => number {
  const { below } = seeded(seed);
  return () => below(2 ** 32) / 2 ** 32;
}
