/**
 * The gate beside hostile accounts, in virtual time: hundreds of accounts whose URLs hang, fail or are slow, and one that is
 * well. What the gate refuses comes back from a tier, as the schedule says.
 */
import { percentile } from '../../../bench/support/statistics.js';
import { CircuitBreakers, type EndpointSignal } from '../../../src/delivery/isolation/circuit-breaker.js';
import { EndpointGate } from '../../../src/delivery/isolation/endpoint-gate.js';
import { THOROUGH } from '../../support/thorough.js';
import { VirtualClock } from '../../support/virtual-clock.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const TIERS = [5, 300, 1_800].map((seconds) => seconds * SECOND);
const URLS = 3;

interface Manner {
  readonly ms: number;
  readonly signal: EndpointSignal;
}

const WELL: Manner = { ms: 10, signal: 'succeeded' };
const HOSTILE: readonly Manner[] = [
  { ms: 15 * SECOND, signal: 'failed' },
  { ms: 15 * SECOND, signal: 'unreachable' },
  { ms: 15 * SECOND, signal: 'failed' },
  { ms: 14 * SECOND, signal: 'succeeded' },
  { ms: 3, signal: 'failed' },
  { ms: 3, signal: 'unreachable' },
  { ms: 2 * SECOND, signal: 'succeeded' },
  { ms: 900, signal: 'succeeded' },
];

/** Swift until its window is open and its mean is short; then all hang, each just in time. */
class Pulsing implements Manner {
  readonly signal = 'succeeded';
  #attempts = 0;

  get ms(): number {
    this.#attempts += 1;
    return this.#attempts % 38 < 22 ? 1 : 990;
  }
}

/** Slow, but now and then it fails once and answers once, both in an instant. */
class Feigning implements Manner {
  readonly #slow: number;
  #attempts = 0;

  constructor(slow: number) {
    this.#slow = slow;
  }

  get ms(): number {
    this.#attempts += 1;
    return this.#nth < 2 ? 3 : 990;
  }

  get signal(): EndpointSignal {
    return this.#nth === 0 ? 'failed' : 'succeeded';
  }

  get #nth(): number {
    return this.#attempts % (2 + this.#slow);
  }
}

/** Deliveries through the gate, each until it has ended or has been attempted. */
class Simulation {
  readonly clock = new VirtualClock();
  readonly gate: EndpointGate;
  mostUnderWay = 0;
  #underWay = 0;
  #seed = 1;

  constructor() {
    const { clock } = this;
    const breakers = new CircuitBreakers({ now: clock.now, random: this.random });
    this.gate = new EndpointGate({ total: 256, perEndpoint: 16, withinMs: 5 * SECOND, clock, breakers });
  }

  /** The same in every run. */
  readonly random = () => {
    this.#seed = (this.#seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return this.#seed / 2 ** 31;
  };

  /** @returns ms from now until its first attempt ended */
  async deliver(accountId: number, url: string, manner: Manner): Promise<number> {
    const came = this.clock.now();
    for (let refusals = 0; ; ) {
      const entry = await this.gate.enter(accountId, url);
      if (entry.kind === 'entered') {
        this.#underWay += 1;
        this.mostUnderWay = Math.max(this.mostUnderWay, this.#underWay);
        const { ms, signal } = manner;
        await this.#pass(ms);
        this.#underWay -= 1;
        entry.ended(signal);
        entry.leave();
        return this.clock.now() - came;
      }
      const isSoon = entry.isTaking && entry.why === 'line-full';
      const tier = TIERS[isSoon ? 0 : Math.min(refusals, TIERS.length - 1)] ?? 0;
      refusals += isSoon ? 0 : 1;
      await this.#pass(tier * (1 + 0.1 * this.random()));
    }
  }

  at(ms: number, begin: () => void): void {
    this.clock.after(ms, begin);
  }

  #pass(ms: number): Promise<void> {
    return new Promise((resolve) => void this.clock.after(ms, resolve));
  }
}

/** Of so many hostile accounts, with 5 payments or more each within 10 s, again each minute. */
function attack(
  simulation: Simulation,
  { accounts, minutes, payments: most }: Pick<Case, 'accounts' | 'minutes' | 'payments'>,
): void {
  const { random } = simulation;
  for (let id = 1_000; id < 1_000 + accounts; id += 1) {
    const payments = minutes * (5 + Math.floor((most - 5) * random()));
    for (let n = 0; n < payments; n += 1) {
      const at = Math.floor(random() * minutes) * MINUTE + 10 * SECOND * random();
      for (let url = 0; url < URLS; url += 1) {
        const manner = HOSTILE[(id + url) % HOSTILE.length] ?? WELL;
        simulation.at(at, () => void simulation.deliver(id, `https://h${id}.com/${url}`, manner));
      }
    }
  }
}

/** 20 a second, beginning then. @returns their times, ms */
function steady(simulation: Simulation, account: { id: number; from: number; until: number }): number[] {
  const times: number[] = [];
  for (let at = account.from; at < account.until; at += 50) {
    for (let url = 0; url < URLS; url += 1) {
      simulation.at(at, () => {
        void simulation.deliver(account.id, `https://well.com/${url}`, WELL).then((ms) => times.push(ms));
      });
    }
  }
  return times;
}

interface Case {
  readonly accounts: number;
  readonly minutes: number;
  /** When the other healthy account registers. Until each hostile URL was tried once, there is a line of them. */
  readonly comes: number;
  /** Of each, at most. */
  readonly payments: number;
  /** Its first delivery is made within, ms: each account before it gets a second of a place. */
  readonly first: number;
}

const CASES: readonly Case[] = THOROUGH
  ? [
      { accounts: 400, minutes: 1, comes: 5 * SECOND, payments: 100, first: 2 * SECOND },
      { accounts: 1_200, minutes: 2, comes: 45 * SECOND, payments: 12, first: 10 * SECOND },
    ]
  : [{ accounts: 120, minutes: 1, comes: 5 * SECOND, payments: 100, first: 2 * SECOND }];

test.each(CASES)(
  'beside $accounts hostile accounts a healthy one is as fast as ever, and so is one that comes',
  async ({ accounts, minutes, comes, payments, first }) => {
    const simulation = new Simulation();
    attack(simulation, { accounts, minutes, payments });
    const until = minutes * MINUTE;
    const healthy = steady(simulation, { id: 1, from: 0, until });
    const newcomer = steady(simulation, { id: 2, from: comes, until });
    const afterwards = steady(simulation, { id: 2, from: comes + 3 * first, until });
    await simulation.clock.goOn(until + 20 * SECOND);
    expect(healthy).toHaveLength((until / 50) * URLS);
    expect(percentile(healthy, 99)).toBeLessThan(100);
    expect(newcomer).toHaveLength(((until - comes) / 50) * URLS);
    expect(newcomer[0]).toBeLessThan(first);
    expect(percentile(afterwards, 99)).toBeLessThan(100);
    expect(simulation.mostUnderWay).toBeLessThan(2_048);
  },
  120_000,
);

test('a burst of 5,000 to one healthy URL comes in time', async () => {
  const simulation = new Simulation();
  const times = Array.from({ length: 5_000 }, () => simulation.deliver(1, 'https://well.com/0', WELL));
  await simulation.clock.goOn(30 * SECOND);
  expect(Math.max(...(await Promise.all(times)))).toBeLessThan(20 * SECOND);
});

const PULSING = [
  { accounts: 1, eachMs: 1 },
  { accounts: 4, eachMs: 5 },
  { accounts: 10, eachMs: 10 },
];

/** Twenty-one URLs, as many as an account may have active: 336 attempts at once. */
test.each(PULSING)('nor is it felt that the swift endpoints of $accounts accounts hang at once', async (pulsing) => {
  const simulation = new Simulation();
  for (let id = 1_000; id < 1_000 + pulsing.accounts; id += 1) {
    const manners = Array.from({ length: 21 }, () => new Pulsing());
    for (let at = 0; at < 8 * SECOND; at += pulsing.eachMs) {
      const url = (at / pulsing.eachMs) % 21;
      simulation.at(at, () => void simulation.deliver(id, `https://h${id}.com/${url}`, manners[url] ?? WELL));
    }
  }
  const healthy = steady(simulation, { id: 1, from: 0, until: 8 * SECOND });
  await simulation.clock.goOn(20 * SECOND);
  expect(healthy).toHaveLength(480);
  expect(percentile(healthy, 99)).toBeLessThan(100);
});

/** From 5 s on: what endpoints show at first is all that is known of them. */
test.each([2, 6, 14])(
  'nor is it felt that slow endpoints of 100 accounts feign to be swift, every %d attempts',
  async (slow) => {
    const simulation = new Simulation();
    for (let id = 1_000; id < 1_100; id += 1) {
      for (let url = 0; url < URLS; url += 1) {
        const manner = new Feigning(slow);
        for (let at = SECOND; at < 40 * SECOND; at += 500) {
          simulation.at(at, () => void simulation.deliver(id, `https://h${id}.com/${url}`, manner));
        }
      }
    }
    steady(simulation, { id: 1, from: 0, until: 5 * SECOND });
    const healthy = steady(simulation, { id: 1, from: 5 * SECOND, until: 40 * SECOND });
    await simulation.clock.goOn(60 * SECOND);
    expect(healthy).toHaveLength(2_100);
    expect(percentile(healthy, 99)).toBeLessThan(100);
  },
);
