/**
 * A start with healthy URLs of 100 ms that were never tried, each at an origin of its own: 300 payments per second to three of
 * them each. First deliveries take what their TLS handshakes cost, and the thread is busy while any of them waits.
 */
import type { Arrival } from '../processes/receivers.js';
import { type BurstScene, collectArrivals, countDeferred, openBurstScene } from '../support/burst-scene.js';
import { machineMs } from '../support/clock.js';
import { amount } from '../support/format.js';
import { handshakeCpuMs } from '../support/handshakes.js';
import { eachRound, sharedRows } from '../support/rounds.js';
import type { Tell } from '../support/row.js';
import { SECONDS } from '../support/sizes.js';
import { percentile } from '../support/statistics.js';
import { watchBusyWhileQueued } from '../support/thread-usage.js';

const [ACCOUNTS, URLS, ANSWER_MS] = [1_050, 3, 100];
const PER_SECOND = 300;
const ORIGINS = ACCOUNTS * URLS;
/** Each account has got its first payment by then. */
const PUBLISHED_MS = (1_000 * ACCOUNTS) / PER_SECOND;
const FIRST_SECONDS = 60;
const SAMPLED_ORIGINS = 300;
const WITHIN_MS = 60_000;

interface Result {
  readonly ratio: number;
  readonly firstSeconds: number;
  readonly busy: number;
  readonly p99: number;
  readonly deferred: number;
  readonly handshakeMs: number;
  /** Deliveries that did not arrive in time. */
  readonly missing: number;
}

const TITLE = `Start with ${ORIGINS.toLocaleString('en-US')} healthy URLs of ${ANSWER_MS} ms, ${PER_SECOND * URLS} deliveries/s`;

export const start = sharedRows<Result>(
  (tell) =>
    eachRound(
      tell,
      () => turn(tell),
      ({ ratio, firstSeconds, busy, p99, deferred, handshakeMs, missing }) =>
        `first deliveries after ${amount(firstSeconds, 's')}, ${amount(ratio, 'ratio')} of what they take (a handshake ${handshakeMs.toFixed(2)} ms), busy ${amount(busy, 'ratio')}, p99 ${amount(p99, 'ms')}, ${deferred} deferred, ${missing} missing`,
    ),
  [
    [
      'start',
      `${TITLE}: first deliveries relative to the CPU time of their handshakes`,
      { kind: 'at most', value: 1.3, unit: 'ratio' },
      ({ ratio }) => ratio,
    ],
    [
      'start-busy',
      'The same: how busy the thread is while any delivery is queued',
      { kind: 'at least', value: 0.9, unit: 'ratio' },
      ({ busy }) => busy,
    ],
    ['start-p99', 'The same: p99 after the first minute', { kind: 'below', value: 250, unit: 'ms' }, ({ p99 }) => p99],
    ['start-deferred', 'The same: deferred', { kind: 'exactly', value: 0, unit: 'deferred' }, (one) => one.deferred],
  ],
  (results) => ({
    sides: [
      { name: 'first deliveries', unit: 's', values: results.map(({ firstSeconds }) => firstSeconds) },
      { name: 'a handshake with its request', unit: 'ms', values: results.map(({ handshakeMs }) => handshakeMs) },
    ],
    notes: [`The first payments take ${PUBLISHED_MS / 1_000} s to publish: the ratio is to that if it is longer.`],
  }),
);

async function turn(tell: Tell): Promise<Result> {
  const options = { accounts: ACCOUNTS, urls: URLS, origins: ORIGINS, answersAfterMs: ANSWER_MS, alongsideMs: [] };
  const scene = await openBurstScene(options, tell);
  try {
    const sample = scene.origins.slice(0, SAMPLED_ORIGINS).map((origin) => `${origin}/`);
    const handshakeMs = await handshakeCpuMs(sample, scene.ca);
    await scene.receivers.ask('arrivals');
    return { ...(await measure(scene, handshakeMs)), handshakeMs };
  } finally {
    await scene.close();
  }
}

async function measure({ service, publisher, receivers }: BurstScene, handshakeMs: number) {
  const endWatch = watchBusyWhileQueued(service);
  const startedAt = machineMs();
  const seconds = FIRST_SECONDS + SECONDS;
  const published = await publisher.ask('publishSteadily', { perSecond: PER_SECOND, seconds });
  const arrivals = await collectArrivals(receivers, URLS * published, WITHIN_MS);
  const busy = await endWatch();
  const settledAt = startedAt + 1_000 * FIRST_SECONDS;
  const settled = arrivals.filter(({ publishedAt }) => publishedAt >= settledAt);
  const expected = URLS * PER_SECOND * SECONDS;
  // A delivery that has not arrived took longer than all others.
  const missing = Array<number>(Math.max(0, expected - settled.length)).fill(Number.POSITIVE_INFINITY);
  const firstMs = lastOfFirstArrivals(arrivals) - startedAt;
  return {
    ratio: firstMs / Math.max(ORIGINS * handshakeMs, PUBLISHED_MS),
    firstSeconds: firstMs / 1_000,
    busy,
    p99: percentile([...settled.map(({ at, publishedAt }) => at - publishedAt), ...missing], 99),
    deferred: await countDeferred(service),
    missing: URLS * published - arrivals.length,
  };
}

/** @returns when the last URL had its first delivery; Infinity if one had none */
function lastOfFirstArrivals(arrivals: readonly Arrival[]): number {
  const firsts = new Map<string, number>();
  for (const { path, at } of arrivals) firsts.set(path, Math.min(at, firsts.get(path) ?? at));
  return firsts.size < ORIGINS ? Number.POSITIVE_INFINITY : [...firsts.values()].reduce((a, b) => Math.max(a, b));
}
