/** What the last 24 hours counted for one webhook. */
import type { Stats } from '../api/shapes.js';
import { inSteps, spanOf } from '../overview/ranges.js';
import { now } from '../state/now.js';
import { useGot } from '../state/polled.js';

const EVERY_MS = 60_000;

export function useDay(webhookId: number) {
  const { from, to, times } = spanOf('24h', now.value);
  const query = { from, to, step: '1h' as const, webhookId };
  return { times, stats: useGot('/api/stats', { query }, { everyMs: EVERY_MS, keepsLast: true }) };
}

/** share: of attempts that were accepted; p95Ms: of this hour or the one before. Null: there was none. */
export function summaryOf(stats: Stats, times: readonly Date[]) {
  const hours = inSteps(stats, times);
  const sum = (name: 'delivered' | 'failedAttempts' | 'exhausted') =>
    hours.reduce((total, hour) => total + (hour?.[name] ?? 0), 0);
  const [delivered, failed] = [sum('delivered'), sum('failedAttempts')];
  const attempts = delivered + failed;
  const p95Ms = hours.slice(-2).findLast((hour) => hour?.p95Ms != null)?.p95Ms ?? null;
  return {
    hours,
    delivered,
    failed,
    share: attempts > 0 ? delivered / attempts : null,
    p95Ms,
    exhausted: sum('exhausted'),
  };
}
