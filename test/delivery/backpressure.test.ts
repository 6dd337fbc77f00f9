import { Backpressure } from '../../src/delivery/backpressure.js';
import { EndpointPace } from '../../src/delivery/isolation/endpoint-pace.js';

const MIB = 1024 * 1024;

/** How things stand: what is queued, for one endpoint each that takes it within a second, and for one that takes much longer. */
let now: { waiting: number; waitingBytes: number; busy: boolean; slotsAreShort: boolean; ms: number; looks: number };
let slow: { waiting: number; waitingBytes: number };
let busyMs: number;
let backpressure: Backpressure;

/** @param ms that each of its attempts takes */
function paceOf(ms: number): EndpointPace {
  const pace = new EndpointPace();
  for (let n = 0; n < 20; n += 1) pace.succeeded(ms, n, 16);
  return pace;
}
const [FAST, SLOW] = [paceOf(1), paceOf(3_600_000)];

function endpointOf(pace: EndpointPace, { waiting, waitingBytes }: { waiting: number; waitingBytes: number }) {
  return { pace, queue: Array(waiting).fill(null), bytes: waitingBytes, inFlight: 0 };
}

beforeEach(() => {
  now = { waiting: 0, waitingBytes: 0, busy: true, slotsAreShort: false, ms: 0, looks: 0 };
  slow = { waiting: 0, waitingBytes: 0 };
  busyMs = 0;
  const queues = {
    get waiting() {
      return now.waiting;
    },
    get waitingBytes() {
      return now.waitingBytes;
    },
    all: () => {
      now.looks += 1;
      const [waiting, waitingBytes] = [now.waiting - slow.waiting, now.waitingBytes - slow.waitingBytes];
      return [endpointOf(FAST, { waiting, waitingBytes }), endpointOf(SLOW, slow)];
    },
  };
  backpressure = new Backpressure({
    queues,
    slotsAreShort: () => now.slotsAreShort,
    busyMs: () => busyMs,
    now: () => now.ms,
  });
});

function goOn(ms: number): void {
  now.ms += ms;
  busyMs += now.busy ? ms : 0;
}

function mayConsumeAt(waiting: number): boolean {
  now.waiting = waiting;
  goOn(20);
  return backpressure.mayConsume();
}

test('records are taken while few deliveries are queued, however busy the process is', () => {
  for (let waiting = 0; waiting <= 1_500; waiting += 1) expect(mayConsumeAt(waiting)).toBe(true);
  expect(now.looks).toBe(0);
});

test('they are taken while the process has time, however many are queued: it is endpoints that are slow', () => {
  now.busy = false;
  expect(mayConsumeAt(7_500)).toBe(true);
});

test('where attempts wait for slots, though the thread has time: the budget of the thread leaves some of it to others', () => {
  now.busy = false;
  now.slotsAreShort = true;
  expect([1_501, 1_401, 1_400].map(mayConsumeAt)).toEqual([false, false, true]);
  now.slotsAreShort = false;
  expect(mayConsumeAt(7_500)).toBe(true);
});

test('where many are queued and the process is busy records stay in their topics, until few are', () => {
  expect([1_500, 1_501, 1_500, 1_401, 1_400, 1_401, 1_500, 1_501].map(mayConsumeAt)).toEqual([
    ...[true, false, false, false],
    ...[true, true, true, false],
  ]);
  expect(backpressure.isPaused).toBe(true);
});

test('large events are many when they have 8 MiB together', () => {
  now.waitingBytes = 8 * MIB;
  expect(mayConsumeAt(400)).toBe(true);
  now.waitingBytes += 1;
  expect(mayConsumeAt(400)).toBe(false);
  now.waitingBytes = 6 * MIB;
  expect(mayConsumeAt(100)).toBe(true);
});

test('what is queued for slow endpoints pauses nothing, though the process is busy: with something else', () => {
  slow = { waiting: 5_900, waitingBytes: 16 * MIB };
  now.waitingBytes = 16 * MIB;
  expect([6_000, 7_400, 7_401, 7_301, 7_300].map(mayConsumeAt)).toEqual([true, true, false, false, true]);
});

describe('what counts as held up by this process', () => {
  const pauses = (endpoints: number, each: number, pace: EndpointPace) => {
    const all = Array.from({ length: endpoints }, () => endpointOf(pace, { waiting: each, waitingBytes: 0 }));
    const queues = { waiting: endpoints * each, waitingBytes: 0, all: () => all };
    const parts = { queues, slotsAreShort: () => true, busyMs: () => 0, now: () => 1_000 };
    return !new Backpressure(parts).mayConsume();
  };
  const dear = (isSurelyDear: boolean) => Object.assign(paceOf(1), { cost: { isDear: true, isSurelyDear } });

  test.each([
    ['what a cheap endpoint takes soon', 1, 1_501, paceOf(1), true],
    ['of what only seems cheap a quarter, for it may prove dear', 1, 6_001, dear(false), true],
    ['of what only seems cheap no more', 1, 6_000, dear(false), false],
    ['nothing that is dear', 1, 60_000, dear(true), false],
    ['of an untried one its first attempt, as a quarter: the others wait for it', 6_001, 1, new EndpointPace(), true],
    ['of what was never tried no more', 6_000, 9, new EndpointPace(), false],
  ])('%s', (_, endpoints, each, pace, isPaused) => {
    expect(pauses(endpoints, each, pace)).toBe(isPaused);
  });

  test('nothing of an untried one whose first attempt goes on: it waits for its endpoint', () => {
    const hanging = { ...endpointOf(new EndpointPace(), { waiting: 5, waitingBytes: 0 }), inFlight: 1 };
    const queues = { waiting: 50_000, waitingBytes: 0, all: () => Array(10_000).fill(hanging) };
    const parts = { queues, slotsAreShort: () => true, busyMs: () => 0, now: () => 1_000 };
    expect(new Backpressure(parts).mayConsume()).toBe(true);
  });
});

test('what comes between two looks counts as held up: a turn of the event loop takes no thousands', () => {
  expect(mayConsumeAt(1_501)).toBe(false);
  expect(mayConsumeAt(1_390)).toBe(true);
  now.waiting = 1_502;
  expect(backpressure.mayConsume()).toBe(false);
});

describe('of accounts within their usual rate', () => {
  test('records are taken all the same, until twice as many deliveries are held up', () => {
    expect(mayConsumeAt(3_000)).toBe(false);
    expect(backpressure.mayConsume(true)).toBe(true);
    now.waiting = 3_001;
    expect(backpressure.mayConsume(true)).toBe(false);
  });

  test('while that goes on, each consumer begins 40 others in a second, so that none waits for ever', () => {
    const [payments, retries] = [backpressure.asker(), backpressure.asker()];
    const taken = { payments: 0, retries: 0 };
    for (let n = 0; n < 400; n += 1) {
      now.waiting = n % 2 === 0 ? 2_900 : 4_000;
      goOn(5);
      payments(true);
      if (payments()) taken.payments += 1;
      if (retries()) taken.retries += 1;
    }
    for (const count of Object.values(taken)) {
      expect(count).toBeGreaterThanOrEqual(79);
      expect(count).toBeLessThanOrEqual(81);
    }
  });

  test('without any, no other is taken', () => {
    const ask = backpressure.asker();
    expect([2_000, 2_000, 2_000].map((waiting) => mayConsumeAt(waiting) || ask())).toEqual([false, false, false]);
  });
});

test('all queues are looked at once in 20 ms, however many records are asked for', () => {
  now.waiting = 2_000;
  goOn(20);
  for (let n = 0; n < 100; n += 1) backpressure.mayConsume();
  expect(now.looks).toBe(1);
  goOn(20);
  backpressure.mayConsume();
  expect(now.looks).toBe(2);
});
