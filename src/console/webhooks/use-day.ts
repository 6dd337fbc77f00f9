/** What the last 24 hours counted for the webhooks of a URL. */
import { get, type Result } from '../api/client.js';
import type { Stats } from '../api/shapes.js';
import { spanOf } from '../overview/charts.js';
import { now } from '../state/now.js';
import { type Asking, usePolled } from '../state/polled.js';

const EVERY_MS = 60_000;

export function useDay(webhookIds: readonly number[]) {
  const { from, to, times } = spanOf('24h', now.value);
  const ask = (asking: Asking) => statsOf(webhookIds, { from, to }, asking);
  return { times, stats: usePolled<Stats>(`day ${webhookIds} ${to}`, ask, { everyMs: EVERY_MS, keepsLast: true }) };
}

/** Buckets of one time, one for each webhook, follow each other: `inSteps` joins them. */
async function statsOf(
  ids: readonly number[],
  span: { from: string; to: string },
  { signal }: Asking,
): Promise<Result<Stats>> {
  const data: Stats = { step: '1h', dataSince: null, buckets: [] };
  for (const webhookId of ids) {
    const result = await get('/api/stats', { params: { query: { ...span, step: '1h', webhookId } }, signal });
    if (result.kind !== 'ok') return result;
    data.dataSince ??= result.data.dataSince;
    data.buckets.push(...result.data.buckets);
  }
  return { kind: 'ok', data, etag: null };
}
