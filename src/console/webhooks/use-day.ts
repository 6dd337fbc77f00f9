/** What the last 24 hours counted for the webhooks of a URL. */
import { get, type Result } from '../api/client.js';
import type { Stats } from '../api/shapes.js';
import { inSteps, spanOf } from '../overview/charts.js';
import { now } from '../state/now.js';
import { type Asking, usePolled } from '../state/polled.js';

const EVERY_MS = 60_000;

export function useDay(webhookIds: readonly number[]) {
  const { from, to, times } = spanOf('24h', now.value);
  const ask = (asking: Asking) => statsOf(webhookIds, { from, to }, asking);
  return { times, stats: usePolled<Stats>(`day ${webhookIds} ${to}`, ask, { everyMs: EVERY_MS, keepsLast: true }) };
}

interface Span {
  readonly from: string;
  readonly to: string;
}

async function statsOf(ids: readonly number[], span: Span, { signal }: Asking): Promise<Result<Stats>> {
  let joined: Stats = { step: '1h', dataSince: null, buckets: [] };
  for (const webhookId of ids) {
    const result = await get('/api/stats', { params: { query: { ...span, step: '1h', webhookId } }, signal });
    if (result.kind === 'same') continue;
    if (result.kind === 'failed') return result;
    joined = withStats(joined, result.data);
  }
  return { kind: 'ok', data: joined, etag: null };
}

type Bucket = Stats['buckets'][number];

function withStats(one: Stats, other: Stats): Stats {
  const times = [...new Set([...one.buckets, ...other.buckets].map(({ at }) => at))].sort();
  const at = ({ buckets }: Stats, time: string) => buckets.find((bucket) => bucket.at === time);
  const buckets = times.map((time) => joined(at(one, time), at(other, time)));
  return {
    ...other,
    dataSince: other.dataSince ?? one.dataSince,
    buckets: buckets.filter((bucket) => bucket !== null),
  };
}

/** Percentiles have no sum: the slower is shown. */
function joined(one: Bucket | undefined, other: Bucket | undefined): Bucket | null {
  if (!one || !other) return one ?? other ?? null;
  const sum = (name: 'delivered' | 'failedAttempts' | 'exhausted' | 'cancelled' | 'held') => one[name] + other[name];
  const slower = (name: 'p50Ms' | 'p95Ms') =>
    one[name] === null || other[name] === null ? (one[name] ?? other[name]) : Math.max(one[name], other[name]);
  return {
    at: one.at,
    ...{ delivered: sum('delivered'), failedAttempts: sum('failedAttempts'), exhausted: sum('exhausted') },
    ...{ cancelled: sum('cancelled'), held: sum('held'), p50Ms: slower('p50Ms'), p95Ms: slower('p95Ms') },
  };
}

/** share: of attempts that were accepted; p95Ms: of this hour or the one before. Null: there was none. */
export function summaryOf(stats: Stats, times: readonly Date[]) {
  const hours = inSteps(stats, times);
  const sum = (name: 'delivered' | 'failedAttempts' | 'exhausted') =>
    hours.reduce((total, hour) => total + (hour?.[name] ?? 0), 0);
  const [delivered, failed] = [sum('delivered'), sum('failedAttempts')];
  const p95Ms = hours.slice(-2).findLast((hour) => hour?.p95Ms != null)?.p95Ms ?? null;
  return {
    share: delivered + failed > 0 ? delivered / (delivered + failed) : null,
    p95Ms,
    exhausted: sum('exhausted'),
  };
}
