import { endpointKey } from '../../../src/delivery/endpoint-key.js';
import { CircuitBreakers, type EndpointSignal } from '../../../src/delivery/isolation/circuit-breaker.js';

const KEY = endpointKey(42, 'https://shop.example.com/');
const SECOND = 1_000;

let now: number;
let random: number;
let breakers: CircuitBreakers;
beforeEach(() => {
  now = 1_000_000;
  random = 0;
  breakers = new CircuitBreakers({ now: () => now, random: () => random });
});

function pass(key = KEY): void {
  if (breakers.openForMs(key) > 0) throw new Error('it is open');
  breakers.ask(key);
}

/** Attempts one after the other, each of which fares so; what the last one changed. */
function attempts(fared: EndpointSignal, times = 1, key = KEY) {
  let change = null;
  for (let n = 0; n < times; n += 1) {
    pass(key);
    change = breakers.ended(key, fared);
  }
  return change;
}

/** So long a probe that is out lets nobody else pass. */
const LONG = 60 * SECOND;

/** ms from now. */
const openFor = () => {
  const begin = now;
  while (breakers.openForMs(KEY) > 0) now += 1;
  const ms = now - begin;
  now = begin;
  expect(breakers.openForMs(KEY)).toBe(ms);
  return ms;
};

/** From closed to its probe being out. */
function probing(): void {
  attempts('failed', 10);
  now += openFor();
  pass();
}

/** Its probe fares so. */
function probed(fared: EndpointSignal, awayMs?: number) {
  probing();
  return breakers.ended(KEY, fared, awayMs);
}

/** What is done to a breaker, from closed on, and for how long it refuses then. */
const STORIES: readonly (readonly [story: string, act: () => void, openForMs: number])[] = [
  ['nobody has asked', () => undefined, 0],
  ['9 failures', () => attempts('failed', 9), 0],
  ['10 failures', () => attempts('failed', 10), 5 * SECOND],
  ['9 failures, a success, 9 failures', () => [attempts('failed', 9), attempts('succeeded'), attempts('failed', 9)], 0],
  ['9 failures, one that says nothing, a failure', () => faring('failed', 9, 'unknown', 1, 'failed', 1), 5 * SECOND],
  ['100 that say nothing', () => attempts('unknown', 100), 0],
  ['10 failures, 4,999 ms', () => [attempts('failed', 10), wait(4_999)], 1],
  ['the probe is out', () => probing(), LONG],
  ['the probe failed', () => probed('failed'), 5 * SECOND],
  ['the probe failed after 300 s', () => probed('failed', 300 * SECOND), 30 * SECOND],
  ['the probe succeeded', () => probed('succeeded'), 0],
  ['the probe said nothing', () => probed('unknown'), 0],
  ['open, and an earlier attempt fails', () => late('failed', () => attempts('failed', 10)), 5 * SECOND],
  ['open, and an earlier attempt succeeds', () => late('succeeded', () => attempts('failed', 10)), 0],
  ['the probe is out, and an earlier attempt fails', () => late('failed', probing), 5 * SECOND],
  ['the probe is out, and an earlier attempt says nothing', () => late('unknown', probing), 0],
  ['2 failures, 29,999 ms apart', () => [attempts('failed'), wait(29_999), attempts('failed')], 0],
  ['2 failures, 30 s apart', () => [attempts('failed'), wait(30_000), attempts('failed')], 5 * SECOND],
  [
    '2 failures, 30 s apart, a success between',
    () => [attempts('failed'), wait(15_000), attempts('succeeded'), wait(15_000), attempts('failed')],
    0,
  ],
  ['1 failure, long ago, and nothing since', () => [attempts('failed'), wait(60_000)], 0],
  ['the probe is out, and an earlier attempt succeeds', () => late('succeeded', probing), 0],
  ['1 TLS failure, 8 others', () => faring('tls-failed', 1, 'failed', 8), 0],
  ['2 TLS failures', () => attempts('tls-failed', 2), 5 * SECOND],
  ['2 TLS failures, another between', () => faring('tls-failed', 1, 'failed', 1, 'tls-failed', 1), 5 * SECOND],
  ['2 TLS failures, an answer between', () => faring('tls-failed', 1, 'refused', 1, 'tls-failed', 1), 5 * SECOND],
  ['2 TLS failures, a 2xx between', () => faring('tls-failed', 1, 'succeeded', 1, 'tls-failed', 1), 0],
  ['9 failures, an answer, a failure', () => faring('failed', 9, 'refused', 1, 'failed', 1), 0],
  [
    'a TLS failure, an answer, 30 s, a failure',
    () => [faring('tls-failed', 1, 'refused', 1), wait(30_000), attempts('failed')],
    0,
  ],
  ['the probe fails in TLS', () => probed('tls-failed', 100 * SECOND), 10 * SECOND],
  ['the probe is answered', () => probed('refused'), 0],
  ['2 TLS failures, and the probe is answered', () => [faring('tls-failed', 2), wait(5_000), attempts('failed')], 0],
];

const wait = (ms: number) => {
  now += ms;
};

function faring(...steps: readonly (EndpointSignal | number)[]): void {
  for (let n = 0; n < steps.length; n += 2) attempts(steps[n] as EndpointSignal, steps[n + 1] as number);
}

/** An attempt that begins before, and ends after the others. */
function late(fared: EndpointSignal, others: () => unknown): void {
  pass();
  others();
  breakers.ended(KEY, fared);
}

describe('how long it refuses', () => {
  test.each(STORIES)('is as the table says after: %s', (_, act, openForMs) => {
    act();
    expect(openFor()).toBe(openForMs);
  });

  test.each([
    [0, 5],
    [50, 5],
    [51, 5.1],
    [300, 30],
    [600, 60],
    [601, 60],
    [3 * 86_400, 60],
  ])('is a tenth of the time away, 5 s at least and 60 s at most: after %d s %d s', (awaySeconds, seconds) => {
    attempts('failed', 9);
    breakers.ended(KEY, 'failed', awaySeconds * SECOND);
    expect(openFor()).toBe(seconds * SECOND);
    now += openFor();
    pass();
    breakers.ended(KEY, 'failed', awaySeconds * SECOND);
    expect(openFor()).toBe(seconds * SECOND);
  });

  test('is up to a tenth more, at random', () => {
    random = 0.5;
    attempts('failed', 10);
    expect(openFor()).toBe(5.25 * SECOND);
    random = 0;
    now += openFor();
    attempts('failed');
    expect(openFor()).toBe(5 * SECOND);
  });

  test('is 5 s again where it has been closed in between', () => {
    probed('failed', 600 * SECOND);
    now += openFor();
    attempts('succeeded');
    attempts('failed', 10);
    expect(openFor()).toBe(5 * SECOND);
  });
});

describe('a probe', () => {
  test('is one at a time, or within a minute', () => {
    probing();
    now += LONG - 1;
    expect(breakers.openForMs(KEY)).toBe(1);
  });

  test('that says nothing is followed by another at once, and by a pause where that one fails', () => {
    probed('unknown', 600 * SECOND);
    attempts('failed');
    expect(openFor()).toBe(5 * SECOND);
  });
});

describe('what is told', () => {
  test('is that it opened, once, and that it closed', () => {
    expect(attempts('failed', 9)).toBeNull();
    expect(attempts('failed')).toBe('opened');
    now += openFor();
    expect(attempts('failed')).toBeNull();
    now += openFor();
    expect(attempts('succeeded')).toBe('closed');
    expect(attempts('succeeded')).toBeNull();
  });
});

describe('what is remembered', () => {
  test('is of each endpoint for itself', () => {
    attempts('failed', 10);
    expect(breakers.openForMs(endpointKey(43, 'https://shop.example.com/'))).toBe(0);
  });

  test('is 10,000 endpoints, of which the one asked for longest ago is forgotten first', () => {
    attempts('failed', 10);
    for (let n = 0; n < 9_999; n += 1) attempts('failed', 1, endpointKey(n, 'https://other.com/'));
    expect(openFor()).toBe(5 * SECOND);
    for (let n = 0; n < 9_999; n += 1) attempts('failed', 1, endpointKey(n, 'https://more.com/'));
    expect(openFor()).toBe(5 * SECOND);
    for (let n = 0; n < 10_000; n += 1) attempts('failed', 1, endpointKey(n, 'https://evenmore.com/'));
    expect(openFor()).toBe(0);
  });
});
