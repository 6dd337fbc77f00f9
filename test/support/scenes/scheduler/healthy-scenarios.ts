/** Healthy receivers at a start, during a burst, and after an outage: they wait for nothing but the CPU, or their own rate. */
import { AWAY, answers, meanwhile } from './manners.js';
import { ATTEMPT_MS, HANDSHAKE_MS } from './processor.js';
import { type Scenario, unharmed } from './scenario.js';
import { type Manner, MINUTE, SECOND } from './simulation.js';
import { PAYMENT_MS } from './topic.js';
import { endpointsOf, type World } from './world.js';

const URLS = 3;
const PER_SECOND = 900;
const PER_ENDPOINT = 16;
const LOOK_EVERY_MS = 10;
/** Measured: 0.1 ms for a delivery of a bundle that is deferred again. */
const WITH_CPU = { hasCpu: true, deferralMs: 0.1, hasTopic: true };
const BESIDE = unharmed({ well10: 500, well150: 500 });

/** Each payment to three URLs of another account, in turn. */
export function start(accounts: number): Scenario {
  const urls = accounts * URLS;
  const everyMs = (SECOND * URLS) / PER_SECOND;
  const arrivedMs = accounts * everyMs;
  const idealMs = Math.max(urls * (HANDSHAKE_MS + ATTEMPT_MS), arrivedMs);
  const [from, until] = [MINUTE, MINUTE + 5 * SECOND];
  /** Beyond that, a connection is closed before its URL has the next payment: each delivery is a handshake. */
  const isReused = arrivedMs < MINUTE;
  return {
    name: `a start with ${urls} healthy URLs of 100 ms (c)`,
    ...WITH_CPU,
    limits: {
      'first deliveries': { below: 1.3 },
      'thread busy': { atLeast: 0.9 },
      'first deferred': { is: 0 },
      ...(isReused ? unharmed({ settled: 250 }) : {}),
    },
    plays: async (world) => {
      const all = Array.from({ length: accounts }, (_, id) => endpointsOf(id + 1_000, URLS, () => answers(100)));
      const sendAll = (name: string, from: number, until: number) => {
        for (let at = from, n = 0; at < until; at += everyMs, n += 1)
          world.publish(at, all[n % accounts] ?? [], world.group(name));
      };
      sendAll('first', 0, arrivedMs);
      sendAll('more', arrivedMs, isReused ? from : arrivedMs);
      sendAll('settled', from, isReused ? until : from);
      const { processor, scheduler } = world.simulation;
      const whileWaiting = { ms: 0, busyMs: 0 };
      let [lookedBusyMs, hasWaited] = [0, false];
      const look = () => {
        const busyMs = processor.busyMs();
        if (hasWaited) {
          whileWaiting.ms += LOOK_EVERY_MS;
          whileWaiting.busyMs += busyMs - lookedBusyMs;
        }
        [lookedBusyMs, hasWaited] = [busyMs, scheduler.state.waiting > 0];
      };
      for (let at = LOOK_EVERY_MS; at < 2 * idealMs; at += LOOK_EVERY_MS) world.simulation.at(at, look);
      await world.goOn(Math.max(until, 2 * idealMs) + 10 * SECOND);
      world.note('first deliveries', world.group('first').lastEndedAt / idealMs);
      world.note('thread busy', whileWaiting.busyMs / whileWaiting.ms);
    },
  };
}

/** 12 deliveries to each URL, faster than the CPU sends them. */
function burstOverMany(accounts: number): Scenario {
  const ms = 4 * accounts;
  return {
    name: `a burst over ${accounts} healthy accounts (c)`,
    ...WITH_CPU,
    limits: { 'burst deferred': { is: 0 }, 'last delivery': { below: 1.3 }, ...BESIDE },
    plays: async (world) => {
      const from = MINUTE;
      beside(world, from + ms + 10 * SECOND);
      const all = Array.from({ length: accounts }, (_, id) => endpointsOf(id + 1_000, URLS, () => answers(100)));
      for (const endpoints of all) {
        for (const each of endpoints) world.send(world.simulation.random() * from, each, world.others);
        for (let n = 0; n < 12; n += 1) {
          const at = from + ms * world.simulation.random();
          world.publish(at, endpoints, world.group('burst'));
        }
      }
      await world.goOn(from);
      const askedMs = world.simulation.processor.askedMs;
      await world.goOn(ms + 2 * MINUTE);
      const { deliveries, lastEndedAt } = world.group('burst');
      const besideMs = world.simulation.processor.askedMs - askedMs;
      world.note('last delivery', (lastEndedAt - from) / Math.max(ms, besideMs));
      world.note('burst each ms', besideMs / deliveries.length);
    },
  };
}

interface Single {
  readonly count: number;
  readonly withinMs: number;
  readonly answerMs: number;
}

/** To one healthy URL that has accepted deliveries before. */
function burstOfOne({ count, withinMs, answerMs }: Single): Scenario {
  const from = 10 * SECOND;
  const idealMs = Math.max((count * answerMs) / PER_ENDPOINT, count * (PAYMENT_MS + ATTEMPT_MS), withinMs);
  return {
    name: `a burst of ${count} to one URL of ${answerMs} ms within ${withinMs} ms (c)`,
    ...WITH_CPU,
    limits: {
      'burst undelivered': { is: 0 },
      'burst records each': { below: 3.01 },
      'last delivery': { below: 1.2 },
      'longest gap': { below: 6 * SECOND },
      ...BESIDE,
    },
    plays: async (world) => {
      const until = from + 2 * idealMs;
      beside(world, until);
      for (const each of endpointsOf(7, 1, () => answers(answerMs))) {
        for (let n = 0; n < 60; n += 1) world.send(100 * n, each, world.others);
        for (let n = 0; n < count; n += 1) world.send(from + (n * withinMs) / count, each, world.group('burst'));
      }
      await world.goOn(until + 5 * MINUTE);
      const burst = world.group('burst');
      world.note('last delivery', (burst.lastEndedAt - from) / idealMs);
      world.note('longest gap', burst.longestGapMs);
    },
  };
}

/** Payments that were published before the start, to URLs that were never tried. */
function backlog(accounts: number, payments: number): Scenario {
  const count = accounts * payments;
  const cpuMs = count * (PAYMENT_MS + URLS * ATTEMPT_MS) + accounts * URLS * HANDSHAKE_MS;
  return {
    name: `a backlog of ${count} payments of ${accounts} accounts at a start (c)`,
    ...WITH_CPU,
    limits: { 'backlog deferred': { is: 0 }, 'last delivery': { below: 1.3 } },
    plays: async (world) => {
      const all = Array.from({ length: accounts }, (_, id) => endpointsOf(id + 1_000, URLS, () => answers(10)));
      for (let n = 0; n < payments; n += 1)
        for (const endpoints of all) world.publish(0, endpoints, world.group('backlog'));
      await world.goOn(3 * cpuMs + MINUTE);
      world.note('last delivery', world.group('backlog').lastEndedAt / cpuMs);
    },
  };
}

/** More at once than the CPU sends for seconds, of one account that has accepted deliveries before. */
function burstOfAccount(count: number): Scenario {
  const from = 10 * SECOND;
  const cpuMs = count * (PAYMENT_MS + URLS * ATTEMPT_MS);
  return {
    name: `${count} payments at once of one account with 3 URLs of 10 ms (c)`,
    ...WITH_CPU,
    limits: { 'burst deferred': { is: 0 }, 'last delivery': { below: 1.3 }, ...BESIDE },
    plays: async (world) => {
      const until = from + 2 * cpuMs;
      beside(world, until);
      world.steady('before', { id: 7, manner: answers(10), until: from });
      const endpoints = endpointsOf(7, URLS, () => answers(10));
      for (let n = 0; n < count; n += 1) world.publish(from, endpoints, world.group('burst'));
      await world.goOn(until + MINUTE);
      world.note('last delivery', (world.group('burst').lastEndedAt - from) / cpuMs);
    },
  };
}

/** The process does nothing for a while, at a load that leaves it little time to catch up. */
function standstill(accounts: number, answerMs: number): Scenario {
  const [from, until] = [20 * SECOND, 60 * SECOND];
  const pauseMs = 8 * SECOND;
  const load = 0.75;
  const everyMs = (accounts * (PAYMENT_MS + URLS * ATTEMPT_MS)) / load;
  return {
    name: `a standstill of ${pauseMs / SECOND} s with ${accounts} accounts, ${URLS} URLs of ${answerMs} ms (c)`,
    ...WITH_CPU,
    limits: { 'all deferred': { is: 0 }, 'all p100': { below: 1.5 * pauseMs }, 'settled p99': { below: SECOND } },
    plays: async (world) => {
      for (let id = 1_000; id < 1_000 + accounts; id += 1) {
        const [manner, shiftMs] = [answers(answerMs), everyMs * world.simulation.random()];
        world.steady('all', { id, manner, everyMs, from: shiftMs, until });
        world.steady('settled', { id, manner, everyMs, from: until + shiftMs, until: until + 10 * SECOND });
      }
      world.simulation.at(from, () => void world.simulation.processor.works(pauseMs));
      await world.goOn(until + MINUTE);
    },
  };
}

/** Urgent deliveries to a URL for which many others wait. */
function urgent(count: number): Scenario {
  return {
    name: `urgent deliveries to a URL of 100 ms for which ${count} wait (c)`,
    ...WITH_CPU,
    limits: { 'urgent p100': { below: SECOND }, 'urgent deferred': { is: 0 }, 'others undelivered': { is: 0 } },
    plays: async (world) => {
      for (const each of endpointsOf(7, 1, () => answers(100))) {
        for (let n = 0; n < 60; n += 1) world.send(100 * n, each, world.group('before'));
        for (let n = 0; n < count; n += 1) world.send(10 * SECOND + n / 4, each, world.group('others'));
        for (let n = 0; n < 20; n += 1)
          world.send((10 + n) * SECOND, { ...each, isUrgent: true }, world.group('urgent'));
      }
      await world.goOn(10 * SECOND + (count * 200) / PER_ENDPOINT);
    },
  };
}

interface Outage {
  readonly seconds: number;
  readonly perSecond: number;
}

function returns({ seconds, perSecond }: Outage): Scenario {
  const [from, until] = [30 * SECOND, (30 + seconds) * SECOND];
  const answerMs = 10;
  const count = seconds * perSecond;
  // Payments go on, and the endpoint takes those too.
  const perMs = PER_ENDPOINT / (answerMs + ATTEMPT_MS);
  const needsMs = count / (perMs - perSecond / SECOND);
  const withinMs = Math.max((seconds * SECOND) / 10, 6 * SECOND, 1.2 * needsMs);
  return {
    name: `${perSecond}/s to a URL that is away for ${seconds} s (c)`,
    ...WITH_CPU,
    limits: { 'last after its return': { below: withinMs }, ...BESIDE },
    plays: async (world) => {
      beside(world, until + withinMs);
      const manner: Manner = meanwhile(from, until, AWAY);
      const own = { id: 7, manner, everyMs: SECOND / perSecond, urls: 1 };
      world.steady('before', { ...own, until: from });
      world.steady('away', { ...own, from, until });
      world.steady('after', { ...own, from: until, until: until + withinMs });
      await world.goOn(until + 10 * MINUTE);
      const returned = Math.min(world.group('away').deliveredAfter(until), world.group('after').deliveredAfter(until));
      world.note('last after its return', world.group('away').lastEndedAt - returned);
    },
  };
}

/** Healthy accounts with receivers of 10 and 150 ms. */
function beside(world: World, until: number): void {
  world.steady('well10', { id: 1, manner: answers(10), until });
  world.steady('well150', { id: 2, manner: answers(150), until });
}

export const HEALTHY_SCENARIOS: readonly Scenario[] = [
  burstOverMany(300),
  burstOfOne({ count: 4_000, withinMs: 1_100, answerMs: 100 }),
  burstOfOne({ count: 9_000, withinMs: 2_000, answerMs: 1 }),
  burstOfAccount(4_000),
  standstill(20, 10),
  urgent(10_000),
  returns({ seconds: 60, perSecond: 30 }),
  returns({ seconds: 180, perSecond: 30 }),
];

/** Those of the nightly run. */
export const LARGE_HEALTHY_SCENARIOS: readonly Scenario[] = [
  start(1_050),
  start(20_000),
  burstOverMany(2_000),
  burstOfAccount(20_000),
  backlog(100, 640),
  standstill(1, 10),
  burstOfOne({ count: 20_000, withinMs: 8_000, answerMs: 1 }),
  returns({ seconds: 60, perSecond: 300 }),
  returns({ seconds: 180, perSecond: 300 }),
];
