/** The scheduler under anything that may happen to it in any order: whoever comes is told once, and nothing is kept of who has left. */
import fc from 'fast-check';
import { CircuitBreakers, type EndpointSignal } from '../../../src/delivery/isolation/circuit-breaker.js';
import { DeliveryScheduler } from '../../../src/delivery/isolation/delivery-scheduler.js';
import type { Acquired, AttemptEnd, Deferred } from '../../../src/delivery/isolation/endpoint.js';
import { inFull } from '../../runner/thorough.js';
import { VirtualClock } from '../../support/clocks/virtual-clock.js';

const SECOND = 1_000;
const HOLD_MS = 50;
const SOON_MS = 5_000;
const PATIENT_MS = 60_000;
/** Longer than any pause of a breaker or of an endpoint. */
const LONG_MS = 70_000;
const ACCOUNTS = 4;
const URLS = 3;
const BYTES = 7;

interface Size {
  readonly slots: number;
  readonly perEndpoint: number;
}

type Step =
  | { readonly kind: 'come'; readonly account: number; readonly url: number; readonly times: number }
  | { readonly kind: 'end'; readonly which: number; readonly end: AttemptEnd; readonly workMs: number }
  | { readonly kind: 'leave'; readonly which: number }
  | { readonly kind: 'wait'; readonly ms: number };

const which = fc.nat({ max: 30 });
const signal = fc.constantFrom<EndpointSignal>(
  ...(['succeeded', 'succeeded', 'failed', 'failed', 'refused', 'unreachable', 'tls-failed', 'unknown'] as const),
);
const retryAfterMs = fc.constantFrom(0, 0, 1_000, 30_000, 3_600_000);
const workMs = fc.constantFrom(0, 0, 0.3, 30);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('come' as const), ...comers() }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('end' as const), which, workMs, end: ends() }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('leave' as const), which }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: waits() }) },
);
const size = fc.record({ slots: fc.integer({ min: 1, max: 40 }), perEndpoint: fc.integer({ min: 1, max: 4 }) });

function comers() {
  return { account: fc.nat({ max: ACCOUNTS - 1 }), url: fc.nat({ max: URLS - 1 }), times: fc.constantFrom(1, 1, 2, 6) };
}

function ends(): fc.Arbitrary<AttemptEnd> {
  return fc.record({ signal, retryAfterMs });
}

function waits() {
  return fc.constantFrom(1, HOLD_MS - 1, HOLD_MS, HOLD_MS + 1, 400, SOON_MS, 15_000, PATIENT_MS, LONG_MS);
}

interface Came {
  readonly key: string;
  told: number;
  acquisition: Acquired | Deferred | null;
  beganAt: number;
  endedAs: EndpointSignal | null;
  endedAt: number;
  hasLeft: boolean;
}

/** A scheduler and all that came to it, as seen from outside. */
class Scene {
  readonly clock = new VirtualClock();
  readonly scheduler: DeliveryScheduler;
  readonly all: Came[] = [];
  readonly #size: Size;
  /** Endpoints that refused: their rate, or a pause, may keep them from what is queued. */
  readonly #refused = new Set<string>();
  #busyMs = 0;

  constructor(given: Size) {
    const { clock } = this;
    const breakers = new CircuitBreakers({ now: clock.now, random: () => 0.5 });
    this.#size = given;
    this.scheduler = new DeliveryScheduler({ ...given, clock, breakers, busyMs: () => this.#busyMs, idleTo: () => 0 });
  }

  get inFlight(): Came[] {
    return this.all.filter(({ acquisition, hasLeft }) => acquisition?.kind === 'acquired' && !hasLeft);
  }

  async come(account: number, url: number): Promise<Came> {
    const key = `${account}/${url}`;
    const one: Came = { key, told: 0, acquisition: null, beganAt: 0, endedAs: null, endedAt: 0, hasLeft: false };
    this.all.push(one);
    void this.scheduler.acquire(account, `https://shop.example.com/${url}`, { bytes: BYTES }).then((acquisition) => {
      one.told += 1;
      one.acquisition = acquisition;
      one.beganAt = this.clock.now();
    });
    await told();
    return one;
  }

  end(one: Came, end: AttemptEnd): void {
    if (one.endedAs === null) {
      one.endedAs = end.signal;
      one.endedAt = this.clock.now();
      if (end.signal === 'refused') this.#refused.add(one.key);
    }
    acquired(one).ended(end);
  }

  leave(one: Came): void {
    one.hasLeft = true;
    one.endedAs ??= 'unknown';
    acquired(one).leave();
  }

  succeed(one: Came): void {
    this.end(one, { signal: 'succeeded' });
    this.leave(one);
  }

  async take(step: Step): Promise<void> {
    switch (step.kind) {
      case 'come':
        for (let n = 0; n < step.times; n += 1) await this.come(step.account, step.url);
        break;
      case 'end':
      case 'leave': {
        const { inFlight } = this;
        const one = inFlight[step.which % Math.max(1, inFlight.length)];
        if (step.kind === 'end') this.#busyMs += step.workMs;
        if (one && step.kind === 'end') this.end(one, step.end);
        else if (one) this.leave(one);
        break;
      }
      case 'wait':
        await this.clock.goOn(step.ms);
        break;
      default:
        step satisfies never;
    }
    await told();
  }

  /** Whatever has happened. */
  check(): void {
    const { inFlight, scheduler, all } = this;
    const queued = all.filter(({ told }) => told === 0);
    const { slots, perEndpoint } = this.#size;
    expect(all.every(({ told }) => told <= 1)).toBe(true);
    const [waiting, waitingBytes] = [queued.length, BYTES * queued.length];
    const active = inFlight.filter(({ endedAs }) => endedAs === null);
    expect(scheduler.state).toMatchObject({ active: active.length, waiting, waitingBytes });
    expect(all.filter((one) => this.#holdsSlot(one)).length).toBeLessThanOrEqual(3 * slots + forFailing(slots));
    for (const key of new Set(inFlight.map((one) => one.key))) {
      expect(active.filter((one) => one.key === key).length).toBeLessThanOrEqual(perEndpoint);
      expect(inFlight.filter((one) => one.key === key).length).toBeLessThan(64 + perEndpoint);
    }
    if (queued.some(({ key }) => !this.#refused.has(key))) {
      expect(inFlight.length + all.filter((one) => this.#mayHoldSlot(one)).length).toBeGreaterThan(0);
    }
  }

  /** All succeed, until nothing is queued: as many rounds as deliveries came are enough. */
  async drain(): Promise<void> {
    for (let rounds = this.all.length; this.inFlight.length > 0 || this.scheduler.state.waiting > 0; rounds -= 1) {
      expect(rounds).toBeGreaterThanOrEqual(0);
      for (const one of this.inFlight) this.succeed(one);
      await told();
      await this.clock.goOn(PATIENT_MS);
      this.check();
    }
  }

  #holdsSlot(one: Came): boolean {
    if (one.acquisition?.kind !== 'acquired' || this.clock.now() >= one.beganAt + HOLD_MS) return false;
    return one.endedAs === null;
  }

  /** As what has failed and left does where its endpoint was untried or failing. */
  #mayHoldSlot({ acquisition, beganAt }: Came): boolean {
    return acquisition?.kind === 'acquired' && this.clock.now() < beganAt + HOLD_MS;
  }
}

function forFailing(slots: number): number {
  return Math.max(1, Math.floor(slots / 16));
}

function acquired({ acquisition }: Came): Acquired {
  if (acquisition?.kind !== 'acquired') throw new Error('it is not in flight');
  return acquisition;
}

async function told(): Promise<void> {
  for (let n = 0; n < 4; n += 1) await null;
}

/** An attempt with a new connection, ms of the thread. */
const ATTEMPT_MS = 1.75;
/** The least budgets for endpoints beyond their usual rate, and for those never tried. */
const [LEAST_MS, LEAST_UNTRIED_MS] = [30, 15];
/** Attempts start while those that hold a slot are expected to take less than the budget. */
const within = (budgetMs: number) => Math.ceil(budgetMs / ATTEMPT_MS);
/** 2xx that make 2 s of an endpoint's usual rate one attempt. */
const TO_BE_USUAL = 20;
const numRuns = inFull(300, 60);

test('whoever comes is told once, slots and windows hold, nobody waits beside an idle scheduler, and nothing is left', async () => {
  const steps = fc.array(step, { maxLength: 60, size: 'max' });
  await fc.assert(
    fc.asyncProperty(size, steps, async (given, all) => {
      const scene = new Scene(given);
      for (const one of all) {
        await scene.take(one);
        scene.check();
      }
      await scene.drain();
      await scene.clock.goOn(LONG_MS);
      await everyEndpointIsTried(scene);
      await allSlotsAreFree(scene, given);
    }),
    { numRuns },
  );
});

test('a scheduler that is closed at any moment has deferred what is queued, and defers what comes', async () => {
  const steps = fc.array(step, { maxLength: 40, size: 'max' });
  await fc.assert(
    fc.asyncProperty(size, steps, steps, async (given, before, after) => {
      const scene = new Scene(given);
      for (const one of before) await scene.take(one);
      const begun = () => scene.all.filter(({ acquisition }) => acquisition?.kind === 'acquired').length;
      const inFlight = begun();
      scene.scheduler.close();
      for (const one of after) {
        await scene.take(one);
        scene.check();
        expect(scene.scheduler.state.waiting).toBe(0);
      }
      expect(begun()).toBe(inFlight);
    }),
    { numRuns: numRuns / 2 },
  );
});

/** No breaker stays half-open, and no pause is left. */
async function everyEndpointIsTried(scene: Scene): Promise<void> {
  for (let account = 0; account < ACCOUNTS; account += 1) {
    for (let url = 0; url < URLS; url += 1) {
      const one = await scene.come(account, url);
      expect(one.acquisition?.kind).toBe('acquired');
      scene.succeed(one);
    }
  }
}

/**
 * Whatever happened before, as many attempts start as slots for endpoints within their usual rate. For those beyond it, and for
 * those never tried, as many again, as far as the least budget of the thread allows. It may be larger: an attempt that waited raised it.
 */
async function allSlotsAreFree(scene: Scene, { slots }: Size): Promise<void> {
  const [usual, beyond, untried] = [100, 1_000, 2_000].map((first) =>
    Array.from({ length: slots + 1 }, (_, index) => first + index),
  ) as [number[], number[], number[]];
  for (const account of usual) for (let n = 0; n < TO_BE_USUAL; n += 1) scene.succeed(await scene.come(account, 0));
  for (const account of beyond) scene.succeed(await scene.come(account, 0));
  await scene.clock.goOn(2 * SECOND);
  const countStarted = async (accounts: readonly number[]) => {
    let count = 0;
    for (const account of accounts) if ((await scene.come(account, 0)).acquisition?.kind === 'acquired') count += 1;
    return count;
  };
  expect(await countStarted(usual)).toBe(slots);
  const [more, first] = [await countStarted(beyond), await countStarted(untried)];
  expect([more <= slots, first <= slots]).toEqual([true, true]);
  expect(more).toBeGreaterThanOrEqual(Math.min(slots, within(LEAST_MS)));
  expect(first).toBeGreaterThanOrEqual(Math.min(slots, within(LEAST_UNTRIED_MS)));
  scene.check();
}
