/** Answers from the counters. */
import { STATS_STEPS_MS, type StatsBucket, type StatsQuery } from '../../ports/deliveries-view.js';
import {
  type Counts,
  type DeliveryCounters,
  DURATION_BUCKETS,
  FAILED_ATTEMPT,
  OLDEST_WITH_MINUTES,
  SUCCEEDED,
} from './delivery-counters.js';
import { CANCELLED, EXHAUSTED, HELD, REMOVED } from './delivery-row.js';
import type { SqliteFile } from './open-file.js';
import type { WebhookHealths } from './webhook-health.js';

interface CountRow {
  readonly hour: number;
  /** In minutes or hours since the epoch. */
  readonly at: number;
  readonly counts: string;
}

type Rows = IterableIterator<CountRow>;
/** ms since the epoch, and counts as JSON. */
type Counted = { readonly ms: number; readonly counts: string };

const MINUTE_MS = STATS_STEPS_MS['1m'];
const HOUR_MS = STATS_STEPS_MS['1h'];

export class DeliveryStats {
  readonly #sql: ReturnType<typeof statements>;
  readonly #health: WebhookHealths;
  readonly #counters: DeliveryCounters;

  constructor(file: SqliteFile, health: WebhookHealths, counters: DeliveryCounters) {
    this.#sql = statements(file);
    this.#health = health;
    this.#counters = counters;
  }

  /** @throws SyntaxError if the view is damaged */
  buckets(query: StatsQuery): readonly StatsBucket[] {
    const stepMs = STATS_STEPS_MS[query.step];
    const webhooks = this.#webhooks(query);
    const bySteps = new Map<number, number[]>();
    for (const { ms, counts } of query.step === '1m' ? this.#byMinute(query) : this.#byHour(query)) {
      const begin = Math.floor(ms / stepMs) * stepMs;
      const sums = bySteps.get(begin) ?? [];
      addUp(sums, JSON.parse(counts) as Counts, webhooks);
      bySteps.set(begin, sums);
    }
    const counted = [...bySteps].filter(([, sums]) => sums.some((sum) => sum !== 0));
    return counted.sort(([one], [other]) => one - other).map(bucketOf);
  }

  *#byMinute({ accountId, from, to }: StatsQuery): Generator<Counted> {
    const oldest = (this.#sql.oldestWithMinutes.get() as number | null) ?? 0;
    const first = Math.max(Math.floor(from / HOUR_MS), oldest);
    for (const { at, counts } of this.#sql.minutes.iterate(first, Math.ceil(to / HOUR_MS), accountId) as Rows) {
      const ms = at * MINUTE_MS;
      if (ms > from - MINUTE_MS && ms < to) yield { ms, counts };
    }
  }

  *#byHour({ accountId, from, to }: StatsQuery): Generator<Counted> {
    const [first, end] = [Math.floor(from / HOUR_MS), Math.ceil(to / HOUR_MS)];
    for (const { hour, counts } of this.#sql.hours.iterate(first, end, accountId) as Rows)
      yield { ms: hour * HOUR_MS, counts };
    const unfolded = Math.max(first, this.#counters.foldedHour);
    for (const { hour, at, counts } of this.#sql.minutes.iterate(unfolded, end, accountId) as Rows)
      if (!this.#counters.isFolded([hour, accountId, at])) yield { ms: hour * HOUR_MS, counts };
  }

  /** ms since the epoch; null: nothing was counted. */
  since(accountId: number): number | null {
    const since = this.#health.since(accountId);
    return since === null ? null : Math.max(since, HOUR_MS * (this.#sql.oldestHour.get() as number));
  }

  /** Null is any. */
  #webhooks({ accountId, webhookId, eventType }: StatsQuery): ReadonlySet<number> | null {
    if (eventType === null) return webhookId === null ? null : new Set([webhookId]);
    const ofType = this.#health.webhooks(accountId, eventType);
    return new Set(webhookId === null ? ofType : ofType.filter((id) => id === webhookId));
  }
}

function addUp(sums: number[], counts: Counts, webhooks: ReadonlySet<number> | null): void {
  for (const webhookId in counts) {
    if (webhooks !== null && !webhooks.has(Number(webhookId))) continue;
    const ofWebhook = counts[Number(webhookId)];
    for (const kind in ofWebhook) sums[Number(kind)] = (sums[Number(kind)] ?? 0) + (ofWebhook[Number(kind)] ?? 0);
  }
}

function bucketOf([at, sums]: readonly [number, readonly number[]]): StatsBucket {
  const of = (kind: number) => sums[kind] ?? 0;
  const durations = Array.from({ length: DURATION_BUCKETS }, (_, n) => of(SUCCEEDED + n));
  return {
    at,
    delivered: durations.reduce((sum, count) => sum + count, 0),
    failedAttempts: of(FAILED_ATTEMPT),
    exhausted: of(EXHAUSTED),
    cancelled: of(CANCELLED) + of(REMOVED),
    held: of(HELD),
    p50Ms: percentileOf(durations, 50),
    p95Ms: percentileOf(durations, 95),
  };
}

/** @param counts by bucket @returns ms, between the bounds of its bucket by rank; null without any */
function percentileOf(counts: readonly number[], percent: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total <= 0) return null;
  let rank = (total * percent) / 100;
  const bucket = counts.findIndex((count) => {
    if (count >= rank) return true;
    rank -= count;
    return false;
  });
  const within = rank / (counts[bucket] ?? 1);
  const ms = bucket === 0 ? within : 2 ** ((bucket - 1 + within) / 2);
  return Math.round(ms * 10) / 10;
}

function statements(file: SqliteFile) {
  const oldestHour = 'SELECT min(hour) AS hour FROM hours UNION ALL SELECT min(hour) FROM minutes';
  return {
    minutes: file.prepare(countsOf('minutes', 'at')),
    hours: file.prepare(countsOf('hours', 'hours.hour')),
    oldestHour: file.prepare(`SELECT min(hour) FROM (${oldestHour})`).pluck(),
    oldestWithMinutes: file.prepare(`SELECT ${OLDEST_WITH_MINUTES}`).pluck(),
  };
}

/** Hour by hour, because an hour has the rows of all accounts. */
function countsOf(table: string, at: string): string {
  return `
    WITH RECURSIVE steps (hour, until) AS (
      SELECT max(?, (SELECT min(hour) FROM ${table})), min(?, (SELECT max(hour) + 1 FROM ${table}))
      UNION ALL SELECT hour + 1, until FROM steps WHERE hour + 1 < until
    )
    SELECT steps.hour, ${at} AS at, counts FROM steps CROSS JOIN ${table} ON ${table}.hour = steps.hour AND account_id = ?
    WHERE steps.hour < until`;
}
