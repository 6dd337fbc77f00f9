/** How busy the main thread of a service under test is: it computes, or waits for a core. It is idle if it waits for anything else. */
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { scrape } from '../../test/support/clients/scrape.js';
import type { Service } from '../../test/support/clients/service.js';
import { machineMs } from './clock.js';

const POLL_INTERVAL_MS = 250;
const QUEUED = 'account_webhooks_queued_deliveries';
const NS_PER_MS = 1e6;

export interface ThreadUsage {
  readonly cpuMs: number;
  /** CPU time, and the time in which other processes had the cores: on a quiet machine, little more than `cpuMs`. */
  readonly busyMs: number;
}

/** Since the start of the process. */
export function threadUsage({ pid }: Pick<Service, 'pid'>): ThreadUsage {
  const [ran = Number.NaN, waited = Number.NaN] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8')
    .split(' ')
    .map(Number);
  return { cpuMs: ran / NS_PER_MS, busyMs: (ran + waited) / NS_PER_MS };
}

/** @returns ends the watch; the share of the time in which deliveries were queued that the thread was busy, 1 if none were */
export function watchBusyWhileQueued(service: Service): () => Promise<number> {
  const ended = new AbortController();
  const watching = watch(service, ended.signal);
  // Reported to the caller that ends it.
  watching.catch(() => undefined);
  return () => {
    ended.abort();
    return watching;
  };
}

async function watch(service: Service, ended: AbortSignal): Promise<number> {
  let [busyMs, queuedMs] = [0, 0];
  let before: { readonly at: number; readonly busyMs: number } | null = null;
  while (!ended.aborted) {
    const isQueued = ((await scrape(service.adminUrl)).value(QUEUED) ?? 0) > 0;
    const now = { at: machineMs(), busyMs: threadUsage(service).busyMs };
    if (isQueued && before) {
      busyMs += now.busyMs - before.busyMs;
      queuedMs += now.at - before.at;
    }
    before = isQueued ? now : null;
    await delay(POLL_INTERVAL_MS);
  }
  return queuedMs > 0 ? busyMs / queuedMs : 1;
}
