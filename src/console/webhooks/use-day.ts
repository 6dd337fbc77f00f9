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

/** @returns the share of attempts that were accepted, and p95 of this hour or the one before; null: there was none */
export function summaryOf({ buckets }: Stats, times: readonly Date[]): { share: number | null; p95Ms: number | null } {
  const delivered = buckets.reduce((sum, bucket) => sum + bucket.delivered, 0);
  const attempts = buckets.reduce((sum, bucket) => sum + bucket.failedAttempts, delivered);
  const lately = times.at(-2)?.getTime() ?? 0;
  const p95Ms = buckets.findLast((one) => one.p95Ms !== null && Date.parse(one.at) >= lately)?.p95Ms ?? null;
  return { share: attempts > 0 ? delivered / attempts : null, p95Ms };
}
