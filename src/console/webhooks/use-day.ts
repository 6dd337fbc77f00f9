/** What the last 24 hours counted for one webhook. */
import type { Stats } from '../api/shapes.js';
import { spanOf } from '../overview/ranges.js';
import { now } from '../state/now.js';
import { useGot } from '../state/polled.js';

const EVERY_MS = 60_000;

export function useDay(webhookId: number) {
  const { from, to, times } = spanOf('24h', now.value);
  const query = { from, to, step: '1h' as const, webhookId };
  return { times, stats: useGot('/api/stats', { query }, { everyMs: EVERY_MS, keepsLast: true }) };
}

/** @returns the share of attempts that were accepted, and p95 of the last hour with any; null: there was none */
export function summaryOf({ buckets }: Stats) {
  const sum = (name: 'delivered' | 'failedAttempts' | 'exhausted') =>
    buckets.reduce((total, bucket) => total + bucket[name], 0);
  const delivered = sum('delivered');
  const attempts = delivered + sum('failedAttempts');
  const p95Ms = buckets.findLast((bucket) => bucket.p95Ms !== null)?.p95Ms ?? null;
  return { share: attempts > 0 ? delivered / attempts : null, p95Ms, exhausted: sum('exhausted') };
}
