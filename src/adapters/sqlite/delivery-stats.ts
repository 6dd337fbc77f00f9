/** Answers from the counters. */
import { STATS_STEPS_MS, type StatsBucket, type StatsQuery } from '../../ports/deliveries-view.js';
import { type Counts, DELIVERED_WITHIN, FAILED_ATTEMPT, OLDEST_WITH_MINUTES, SUCCEEDED } from './delivery-counters.js';
import { CANCELLED, DELIVERED, EXHAUSTED, HELD } from './delivery-row.js';
import { DURATION_BUCKETS, percentileOf } from './duration-histogram.js';
import type { SqliteFile, SqliteStatement } from './open-file.js';
import type { WebhookHealths } from './webhook-health.js';

interface CountRow {
  /** ms since the epoch. */
  readonly at: number;
  /** Counts as JSON. */
  readonly counts: string;
}

const HOUR_MS = STATS_STEPS_MS['1h'];

export class DeliveryStats {
  readonly #minutes: SqliteStatement;
  readonly #hours: SqliteStatement;
  readonly #oldestHour: SqliteStatement;
  readonly #oldestWithMinutes: SqliteStatement;
  readonly #health: WebhookHealths;

  constructor(file: SqliteFile, health: WebhookHealths) {
    this.#health = health;
    this.#minutes = file.prepare(countsOf('minutes', `at * ${STATS_STEPS_MS['1m']}`));
    this.#hours = file.prepare(countsOf('hours', `hours.hour * ${HOUR_MS}`));
    this.#oldestHour = file
      .prepare('SELECT min(hour) FROM (SELECT min(hour) AS hour FROM hours UNION ALL SELECT min(hour) FROM minutes)')
      .pluck();
    this.#oldestWithMinutes = file.prepare(`SELECT ${OLDEST_WITH_MINUTES}`).pluck();
  }

  /** @throws SyntaxError if the view is damaged */
  buckets(query: StatsQuery): readonly StatsBucket[] {
    const stepMs = STATS_STEPS_MS[query.step];
    const webhooks = this.#webhooks(query);
    const bySteps = new Map<number, number[]>();
    for (const { at, counts } of this.#rows(query)) {
      const begin = Math.floor(at / stepMs) * stepMs;
      const sums = bySteps.get(begin) ?? [];
      addUp(sums, JSON.parse(counts) as Counts, webhooks);
      bySteps.set(begin, sums);
    }
    const counted = [...bySteps].filter(([, sums]) => sums.some((sum) => sum !== 0));
    return counted.sort(([one], [other]) => one - other).map(bucketOf);
  }

  /** Of all hours, or of all minutes, that the range touches. */
  *#rows({ accountId, from, to, step }: StatsQuery): Generator<CountRow> {
    const unitMs = step === '1m' ? STATS_STEPS_MS['1m'] : HOUR_MS;
    const [begin, end] = [Math.floor(from / unitMs) * unitMs, Math.ceil(to / unitMs) * unitMs];
    const hours = [Math.floor(begin / HOUR_MS), Math.ceil(end / HOUR_MS)] as const;
    const oldest = step === '1m' ? ((this.#oldestWithMinutes.get() as number | null) ?? 0) : 0;
    const minutes = this.#minutes.all(Math.max(hours[0], oldest), hours[1], accountId) as CountRow[];
    yield* minutes.filter(({ at }) => at >= begin && at < end);
    if (step !== '1m') yield* this.#hours.all(...hours, accountId) as CountRow[];
  }

  /** ms since the epoch; null: nothing was counted. */
  since(accountId: number): number | null {
    const since = this.#health.since(accountId);
    return since === null ? null : Math.max(since, HOUR_MS * (this.#oldestHour.get() as number));
  }

  /** Null is any. */
  #webhooks({ accountId, webhookId, eventType }: StatsQuery): ReadonlySet<number> | null {
    if (eventType === null) return webhookId === null ? null : new Set([webhookId]);
    const ofType = this.#health.webhooks(accountId, eventType);
    return new Set(webhookId === null ? ofType : ofType.filter((id) => id === webhookId));
  }
}

/** @param sums by kind */
function addUp(sums: number[], counts: Counts, webhooks: ReadonlySet<number> | null): void {
  for (const webhookId in counts) {
    if (webhooks !== null && !webhooks.has(Number(webhookId))) continue;
    const ofWebhook = counts[Number(webhookId)];
    for (const kind in ofWebhook) sums[Number(kind)] = (sums[Number(kind)] ?? 0) + (ofWebhook[Number(kind)] ?? 0);
  }
}

function bucketOf([at, sums]: readonly [number, readonly number[]]): StatsBucket {
  const of = (kind: number) => sums[kind] ?? 0;
  const durations = Array.from({ length: DURATION_BUCKETS }, (_, n) => of(SUCCEEDED + n) + of(DELIVERED_WITHIN + n));
  const within = durations.reduce((sum, _, n) => sum + of(DELIVERED_WITHIN + n), 0);
  return {
    at,
    delivered: of(DELIVERED) + within,
    failedAttempts: of(FAILED_ATTEMPT),
    exhausted: of(EXHAUSTED),
    cancelled: of(CANCELLED),
    held: of(HELD),
    p50Ms: percentileOf(durations, 50),
    p95Ms: percentileOf(durations, 95),
  };
}

/** Hour by hour, because an hour has the rows of all accounts. */
function countsOf(table: string, at: string): string {
  return `
    WITH RECURSIVE steps (hour, until) AS (
      SELECT max(?, (SELECT min(hour) FROM ${table})), min(?, (SELECT max(hour) + 1 FROM ${table}))
      UNION ALL SELECT hour + 1, until FROM steps WHERE hour + 1 < until
    )
    SELECT ${at} AS at, counts FROM steps CROSS JOIN ${table} ON ${table}.hour = steps.hour AND account_id = ?
    WHERE steps.hour < until`;
}
