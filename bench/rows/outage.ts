/**
 * The return of two endpoints after an outage, in which they respond with 503 to 30 and 300 payments per second: how long after
 * the first 2xx the last delivery of the outage arrives. Deliveries that were attempted during the outage are not counted: their
 * next attempt is due by RETRY_SCHEDULE.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Arrival, Rejection } from '../processes/receivers.js';
import {
  type BurstScene,
  collectUntil,
  openBurstScene,
  openPublisher,
  type Publisher,
} from '../support/burst-scene.js';
import { machineMs } from '../support/clock.js';
import { amount } from '../support/format.js';
import { eachRound, sharedRows } from '../support/rounds.js';
import type { Tell } from '../support/row.js';
import { OUTAGE_SECONDS } from '../support/sizes.js';

const ANSWER_MS = 10;
/** ENDPOINT_CONCURRENCY */
const MAX_CONCURRENT = 16;
/** One account with one URL each. */
const RATES = [30, 300];
const LEAD_MS = 10_000;
const MIN_ALLOWED_SECONDS = 6;
const WITHIN_MS = 5 * 60_000;

interface Return {
  /** From the first 2xx to the last delivery of the outage. */
  readonly seconds: number;
  /** The longest of a tenth of the outage, 6 s, and 1.2 times what the endpoint needs. */
  readonly allowedSeconds: number;
  readonly arrived: number;
  readonly count: number;
  readonly attempted: number;
}

export const outage = sharedRows<readonly Return[]>(
  (tell) => eachRound(tell, () => turn(tell), describeReturns),
  RATES.map((rate, n) => [
    `outage-${rate}`,
    `Outage of ${OUTAGE_SECONDS} s with ${rate} payments/s: first 2xx to last delivery, relative to what is allowed`,
    { kind: 'at most', value: 1, unit: 'ratio' },
    (returns) => (returns[n] ? returns[n].seconds / returns[n].allowedSeconds : Number.NaN),
  ]),
  (rounds) => ({ notes: rounds.map((returns) => `${describeReturns(returns)}.`) }),
);

function describeReturns(returns: readonly Return[]): string {
  return returns
    .map(
      ({ seconds, allowedSeconds, arrived, count, attempted }, n) =>
        `${RATES[n]}/s: last of ${count} (${arrived} arrived) after ${amount(seconds, 's')}, allowed ${amount(allowedSeconds, 's')}, ${attempted} were attempted`,
    )
    .join('; ');
}

async function turn(tell: Tell): Promise<readonly Return[]> {
  const options = { accounts: RATES.length, urls: 1, origins: RATES.length, answersAfterMs: ANSWER_MS };
  const scene = await openBurstScene({ ...options, alongsideMs: [] }, tell);
  const publishers = await Promise.all(RATES.map((_, n) => openPublisher(scene, { first: n + 1, count: 1 })));
  try {
    return await measure(scene, publishers, tell);
  } finally {
    await Promise.all(publishers.map((one) => one.stop()));
    await scene.close();
  }
}

async function measure({ receivers }: BurstScene, publishers: readonly Publisher[], tell: Tell): Promise<Return[]> {
  const publishing = publishers.map((one, n) =>
    one.ask('publishSteadily', { perSecond: RATES[n] ?? 1, seconds: 24 * 3_600 }),
  );
  await delay(LEAD_MS);
  await receivers.ask('outage', true);
  const from = machineMs();
  await delay(1_000 * OUTAGE_SECONDS);
  const rejected = await receivers.ask('outage', false);
  const until = machineMs();
  const expected = RATES.map((rate, n): Expected => {
    const period = { path: `/after${ANSWER_MS}/${n + 1}/0`, from, until };
    const attempted = rejected.filter((one) => isOf(period, one)).length;
    const published = Math.floor((rate * (until - from)) / 1_000);
    return { ...period, attempted, count: published - attempted, allowedSeconds: allowedSeconds(rate) };
  });
  tell(`outage over; waiting for ${expected.map(({ count }) => count).join(' and ')} deliveries`);
  const isComplete = (all: readonly Arrival[]) =>
    expected.every((one) => all.filter((arrival) => isCounted(one, arrival)).length >= one.count);
  const arrivals = await collectUntil(receivers, isComplete, WITHIN_MS);
  await Promise.all(publishers.map((one) => one.ask('publishNoMore')));
  await Promise.all(publishing);
  return expected.map((one) => toReturn(one, arrivals));
}

/** Of one endpoint, in machineMs. */
interface Period {
  readonly path: string;
  readonly from: number;
  readonly until: number;
}

interface Expected extends Period {
  readonly allowedSeconds: number;
  /** Deliveries of the outage that were not attempted during it. */
  readonly count: number;
  readonly attempted: number;
}

function allowedSeconds(rate: number): number {
  // As in the simulation: payments that continue during the return are not added.
  const needsSeconds = (rate * OUTAGE_SECONDS * ANSWER_MS) / (1_000 * MAX_CONCURRENT);
  return Math.max(OUTAGE_SECONDS / 10, MIN_ALLOWED_SECONDS, 1.2 * needsSeconds);
}

function isOf({ path, from, until }: Period, delivery: Rejection): boolean {
  return delivery.path === path && delivery.publishedAt >= from && delivery.publishedAt < until;
}

function isCounted(period: Period, arrival: Arrival): boolean {
  return isOf(period, arrival) && !arrival.wasRejected;
}

function toReturn(expected: Expected, arrivals: readonly Arrival[]): Return {
  const returned = arrivals.filter(({ path, at }) => path === expected.path && at >= expected.until);
  const counted = returned.filter((one) => isCounted(expected, one));
  const firstAt = returned.reduce((first, { at }) => Math.min(first, at), Number.POSITIVE_INFINITY);
  const last = counted.reduce((latest, { at }) => Math.max(latest, at), 0);
  return {
    seconds: counted.length < expected.count ? Number.POSITIVE_INFINITY : (last - firstAt) / 1_000,
    allowedSeconds: expected.allowedSeconds,
    arrived: counted.length,
    count: expected.count,
    attempted: expected.attempted,
  };
}
