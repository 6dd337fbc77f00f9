/**
 * Accounts with healthy URLs for which more is published than usual, and healthy accounts alongside that get 20 payments per
 * second. Service, publishers and receivers are processes of their own.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { scrape } from '../../test/support/clients/scrape.js';
import type { Service } from '../../test/support/clients/service.js';
import type { handlers as publisherHandlers } from '../processes/publisher.js';
import type { Arrival } from '../processes/receivers.js';
import { Child } from './child.js';
import { HealthyAccount } from './healthy-account.js';
import { type Installation, openInstallation, type Receivers, startService } from './installation.js';
import { populate } from './population.js';
import type { Tell } from './row.js';
import { percentile } from './statistics.js';

const PER_SECOND = 20;
const LEAD_MS = 3_000;
const POLL_INTERVAL_MS = 250;
const DEFERRED = 'account_webhooks_deferred_total';

export interface BurstOptions {
  /** With the ids from 1 on. */
  readonly accounts: number;
  /** Of each account. */
  readonly urls: number;
  /** Of receivers, over which the URLs are distributed. */
  readonly origins: number;
  readonly answersAfterMs: number;
  /** Default: a URL of those receivers. */
  readonly toUrl?: (accountId: number, n: number) => string;
  /** One healthy account each. */
  readonly alongsideMs?: readonly number[];
}

export type Publisher = Child<typeof publisherHandlers>;

export interface BurstScene extends Installation {
  readonly service: Service;
  readonly publisher: Publisher;
  readonly alongside: readonly HealthyAccount[];
}

export async function openBurstScene(options: BurstOptions, tell: Tell): Promise<BurstScene> {
  const { accounts, urls, alongsideMs = [10, 150] } = options;
  const settings = { ALLOWED_PORTS: '443,1024-65535' };
  const installation = await openInstallation({ receivers: options.origins, settings });
  const alongside = await Promise.all(alongsideMs.map((ms, n) => HealthyAccount.open(accounts + 1 + n, ms)));
  const path = options.answersAfterMs > 0 ? `after${options.answersAfterMs}` : 'instant';
  const toHealthyUrl = (id: number, n: number) => {
    const origin = installation.origins[((id - 1) * urls + n) % options.origins];
    return `${origin}/${path}/${id}/${n}`;
  };
  const { toUrl = toHealthyUrl } = options;
  const healthy = new Map(alongside.map((one) => [one.id, one.urls]));
  const population = {
    accounts: accounts + alongside.length,
    urls: (id: number) => healthy.get(id) ?? Array.from({ length: urls }, (_, n) => toUrl(id, n)),
  };
  await populate(installation.settings, population, tell);
  const service = await startService(installation.settings);
  const publisher = await openPublisher(installation, { first: 1, count: accounts });
  await Promise.all([...alongside.map((one) => one.ready(installation.settings)), installation.receivers.ask('timed')]);
  const close = async () => {
    await Promise.all([publisher, ...alongside].map((one) => one.stop()));
    await service.stop('SIGTERM');
    await installation.close();
  };
  return { ...installation, service, publisher, alongside, close };
}

export async function openPublisher(
  { settings }: Pick<Installation, 'settings'>,
  accounts: { readonly first: number; readonly count: number },
  type?: string,
): Promise<Publisher> {
  const publisher: Publisher = await Child.start('publisher');
  await publisher.ask('open', { settings, accounts, ...(type && { type }) });
  return publisher;
}

/** @returns the p99 of each healthy account while `work` ran, in ms */
export async function withHealthyAlongside<T>(
  accounts: readonly HealthyAccount[],
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly p99: readonly number[] }> {
  await Promise.all(accounts.map((one) => one.publishes({ perSecond: PER_SECOND, seconds: LEAD_MS / 1_000 })));
  const publishing = accounts.map((one) => one.publishes({ perSecond: PER_SECOND, seconds: 3_600 }));
  try {
    const result = await work();
    await Promise.all(accounts.map((one) => one.endPublishing()));
    const times = await Promise.all(publishing);
    return { result, p99: times.map((each) => percentile(each, 99)) };
  } finally {
    await Promise.all(accounts.map((one) => one.endPublishing()));
    await Promise.allSettled(publishing);
  }
}

/** Waits for so many distinct arrivals since the last call. @returns them, fewer if the time is over */
export function collectArrivals(receivers: Receivers, count: number, withinMs: number): Promise<readonly Arrival[]> {
  return collectUntil(receivers, (all) => all.length >= count, withinMs);
}

/** A delivery that arrives twice must not make up for one that is missing. */
export async function collectUntil(
  receivers: Receivers,
  isComplete: (arrivals: readonly Arrival[]) => boolean,
  withinMs: number,
): Promise<readonly Arrival[]> {
  const all: Arrival[] = [];
  const seen = new Set<string>();
  const deadline = performance.now() + withinMs;
  while (!isComplete(all) && performance.now() < deadline) {
    await delay(POLL_INTERVAL_MS);
    for (const arrival of await receivers.ask('arrivals')) {
      const delivery = `${arrival.path} ${arrival.publishedAt}`;
      if (!seen.has(delivery)) all.push(arrival);
      seen.add(delivery);
    }
  }
  return all;
}

/** Deliveries that were moved to a tier without an attempt, so far. */
export async function countDeferred({ adminUrl }: Service): Promise<number> {
  return (await scrape(adminUrl)).value(DEFERRED) ?? 0;
}

/** @returns ms of the last arrival; Infinity if fewer than `count` arrived */
export function lastAt(arrivals: readonly Arrival[], count: number): number {
  if (arrivals.length < count) return Number.POSITIVE_INFINITY;
  return arrivals.reduce((last, { at }) => Math.max(last, at), 0);
}

/** @returns the longest time without an arrival, from `startedAt` to the last one */
export function longestGapMs(arrivals: readonly Arrival[], startedAt: number): number {
  const times = arrivals.map(({ at }) => at).sort((one, other) => one - other);
  return times.reduce((longest, at, n) => Math.max(longest, at - (times[n - 1] ?? startedAt)), 0);
}
