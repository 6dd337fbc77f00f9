/** The gate under anything that may happen to it in any order: whoever comes is told once, and nothing is kept of who has left. */

import fc from 'fast-check';
import { CircuitBreakers, type EndpointSignal } from '../../../src/delivery/isolation/circuit-breaker.js';
import type { Admission, Entered } from '../../../src/delivery/isolation/endpoint.js';
import { EndpointGate } from '../../../src/delivery/isolation/endpoint-gate.js';
import { inFull } from '../../support/thorough.js';
import { VirtualClock } from '../../support/virtual-clock.js';

jest.setTimeout(300_000);

const QUICK_MS = 1_000;
const WITHIN_MS = 5_000;
/** Longer than any pause of a breaker. */
const LONG_MS = 70_000;
const ACCOUNTS = 4;
const URLS = 3;

type Step =
  | { readonly kind: 'come'; readonly account: number; readonly url: number; readonly times: number }
  | { readonly kind: 'end'; readonly which: number; readonly signal: EndpointSignal }
  | { readonly kind: 'leave'; readonly which: number }
  | { readonly kind: 'wait'; readonly ms: number };

const which = fc.nat({ max: 30 });
const signal = fc.constantFrom<EndpointSignal>(
  ...(['succeeded', 'succeeded', 'failed', 'failed', 'unreachable', 'tls-failed', 'unknown'] as const),
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('come' as const), ...comers() }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('end' as const), which, signal }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('leave' as const), which }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: waits() }) },
);
const parts = fc.record({ total: fc.integer({ min: 1, max: 12 }), perEndpoint: fc.integer({ min: 1, max: 4 }) });

function comers() {
  return { account: fc.nat({ max: ACCOUNTS - 1 }), url: fc.nat({ max: URLS - 1 }), times: fc.constantFrom(1, 1, 2, 6) };
}

function waits() {
  return fc.constantFrom(1, 50, 400, QUICK_MS - 1, QUICK_MS, QUICK_MS + 1, WITHIN_MS, 15_000, LONG_MS);
}

interface Visit {
  readonly key: string;
  told: number;
  entry: Admission | null;
  enteredAt: number;
  endedAs: EndpointSignal | null;
  endedAt: number;
  hasLeft: boolean;
}

/** A gate and all who came to it, as seen from outside. */
class Scene {
  readonly clock = new VirtualClock();
  readonly gate: EndpointGate;
  readonly visits: Visit[] = [];
  readonly #parts: { readonly total: number; readonly perEndpoint: number };

  constructor(given: { readonly total: number; readonly perEndpoint: number }) {
    const { clock } = this;
    const breakers = new CircuitBreakers({ now: clock.now, random: () => 0.5 });
    this.#parts = given;
    this.gate = new EndpointGate({ ...given, withinMs: WITHIN_MS, clock, breakers });
  }

  get inside(): Visit[] {
    return this.visits.filter(({ entry, hasLeft }) => entry?.kind === 'entered' && !hasLeft);
  }

  async come(account: number, url: number): Promise<Visit> {
    const key = `${account}/${url}`;
    const visit: Visit = { key, told: 0, entry: null, enteredAt: 0, endedAs: null, endedAt: 0, hasLeft: false };
    this.visits.push(visit);
    void this.gate.enter(account, `https://shop.example.com/${url}`, { bytes: 7 }).then((entry) => {
      visit.told += 1;
      visit.entry = entry;
      visit.enteredAt = this.clock.now();
    });
    await told();
    return visit;
  }

  end(visit: Visit, as: EndpointSignal): void {
    if (visit.endedAs === null) {
      visit.endedAs = as;
      visit.endedAt = this.clock.now();
    }
    entered(visit).ended(as);
  }

  leave(visit: Visit): void {
    visit.hasLeft = true;
    visit.endedAs ??= 'unknown';
    entered(visit).leave();
  }

  async take(one: Step): Promise<void> {
    const { inside } = this;
    switch (one.kind) {
      case 'come':
        for (let n = 0; n < one.times; n += 1) await this.come(one.account, one.url);
        break;
      case 'end':
      case 'leave': {
        const visit = inside[one.which % Math.max(1, inside.length)];
        if (visit && one.kind === 'end') this.end(visit, one.signal);
        else if (visit) this.leave(visit);
        break;
      }
      case 'wait':
        await this.clock.goOn(one.ms);
        break;
      default:
        one satisfies never;
    }
    await told();
  }

  /** Whatever has happened. */
  check(): void {
    const { inside, gate, visits } = this;
    const waiting = visits.filter(({ told }) => told === 0).length;
    expect(visits.every(({ told }) => told <= 1)).toBe(true);
    expect(gate.state).toMatchObject({ active: inside.length, waiting, waitingBytes: 7 * waiting });
    expect(inside.filter((visit) => this.#hasPlace(visit)).length).toBeLessThanOrEqual(this.#parts.total);
    for (const key of new Set(inside.map((visit) => visit.key))) {
      expect(inside.filter((visit) => visit.key === key).length).toBeLessThanOrEqual(this.#parts.perEndpoint);
    }
    if (waiting > 0) expect(inside.length + this.#cooling()).toBeGreaterThan(0);
  }

  /** All end by succeeding, until nobody waits: as many rounds as there are visitors are enough. */
  async drain(): Promise<void> {
    for (let rounds = this.visits.length; this.inside.length > 0 || this.gate.waiting > 0; rounds -= 1) {
      expect(rounds).toBeGreaterThanOrEqual(0);
      for (const visit of this.inside) {
        this.end(visit, 'succeeded');
        this.leave(visit);
      }
      await told();
      await this.clock.goOn(QUICK_MS);
      this.check();
    }
  }

  #hasPlace({ enteredAt, endedAs, endedAt }: Visit): boolean {
    const until = enteredAt + QUICK_MS;
    return endedAs === null || endedAs === 'unknown' ? this.clock.now() < until : endedAt < until;
  }

  /** Who has failed and left, and perhaps holds a place yet. */
  #cooling(): number {
    const since = this.clock.now() - QUICK_MS;
    return this.visits.filter(({ hasLeft, enteredAt, entry }) => hasLeft && entry && enteredAt > since).length;
  }
}

function entered({ entry }: Visit): Entered {
  if (entry?.kind !== 'entered') throw new Error('it is not inside');
  return entry;
}

async function told(): Promise<void> {
  for (let n = 0; n < 4; n += 1) await null;
}

const numRuns = inFull(300, 60);

test('whoever comes is told once, places and windows hold, nobody waits beside an idle gate, and nothing is left', async () => {
  const steps = fc.array(step, { maxLength: 60, size: 'max' });
  await fc.assert(
    fc.asyncProperty(parts, steps, async (given, all) => {
      const scene = new Scene(given);
      for (const one of all) {
        await scene.take(one);
        scene.check();
      }
      await scene.drain();
      await scene.clock.goOn(LONG_MS);
      expect(scene.gate.lines).toBe(0);
      await everyEndpointIsTried(scene);
      await allPlacesAreFree(scene, given.total);
    }),
    { numRuns },
  );
});

test('a gate that is closed at any moment has refused who waits, and refuses who comes', async () => {
  const steps = fc.array(step, { maxLength: 40, size: 'max' });
  await fc.assert(
    fc.asyncProperty(parts, steps, steps, async (given, before, after) => {
      const scene = new Scene(given);
      for (const one of before) await scene.take(one);
      const inside = scene.visits.filter(({ entry }) => entry?.kind === 'entered').length;
      scene.gate.close();
      for (const one of after) {
        await scene.take(one);
        scene.check();
        expect(scene.gate.waiting).toBe(0);
      }
      expect(scene.visits.filter(({ entry }) => entry?.kind === 'entered').length).toBe(inside);
    }),
    { numRuns: numRuns / 2 },
  );
});

/** No breaker stays half-open. */
async function everyEndpointIsTried(scene: Scene): Promise<void> {
  for (let account = 0; account < ACCOUNTS; account += 1) {
    for (let url = 0; url < URLS; url += 1) {
      const visit = await scene.come(account, url);
      expect(visit.entry?.kind).toBe('entered');
      scene.end(visit, 'succeeded');
      scene.leave(visit);
    }
  }
}

/** Swift endpoints may take all of them. */
async function allPlacesAreFree(scene: Scene, total: number): Promise<void> {
  const accounts = Array.from({ length: total }, (_, index) => 100 + index);
  for (const account of accounts) {
    const visit = await scene.come(account, 0);
    scene.end(visit, 'succeeded');
    scene.leave(visit);
  }
  for (const account of accounts) expect((await scene.come(account, 0)).entry?.kind).toBe('entered');
  expect((await scene.come(1, 0)).entry).toBeNull();
  scene.check();
}
