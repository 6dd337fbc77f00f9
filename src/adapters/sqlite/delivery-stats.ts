/** Answers from the counters. */
import { STATS_STEPS_MS, type StatsBucket, type StatsQuery } from '../../ports/deliveries-view.js';
import { type Counts, DELIVERED_WITHIN, FAILED_ATTEMPT, OLDEST_MINUTE, SUCCEEDED } from './delivery-counters.js';
import { CANCELLED, DELIVERED, EXHAUSTED, HELD } from './delivery-row.js';
import { DURATION_BUCKETS, percentileOf } from './duration-histogram.js';
import type { SqliteFile, SqliteStatement } from './open-file.js';
import type { WebhookHealths } from './webhook-health.js';

interface CountRow {
  /** In minutes or hours since the epoch. */
  readonly at: number;
  /** Counts as JSON. */
  readonly counts: string;
}

const HOUR_MS = STATS_STEPS_MS['1h'];

export class DeliveryStats {
  readonly #minutes: SqliteStatement;
  readonly #hours: SqliteStatement;
  readonly #oldestHour: SqliteStatement;
  readonly #health: WebhookHealths;

  constructor(file: SqliteFile, health: WebhookHealths) {
    this.#health = health;
    this.#minutes = file.prepare(countsOf('minutes', OLDEST_MINUTE));
    this.#hours = file.prepare(countsOf('hours', '(SELECT min(at) FROM hours)'));
    this.#oldestHour = file.prepare('SELECT min(at) FROM hours').pluck();
  }

  /** @throws SyntaxError if the view is damaged */
  buckets(query: StatsQuery): readonly StatsBucket[] {
    const { accountId, from, to, step } = query;
    const stepMs = STATS_STEPS_MS[step];
    const [sql, unitMs] = step === '1m' ? [this.#minutes, stepMs] : [this.#hours, HOUR_MS];
    const rows = sql.all(Math.floor(from / unitMs), Math.ceil(to / unitMs), accountId) as CountRow[];
    const webhooks = this.#webhooks(query);
    const bySteps = new Map<number, number[]>();
    for (const { at, counts } of rows) {
      const begin = Math.floor((at * unitMs) / stepMs) * stepMs;
      const sums = bySteps.get(begin) ?? [];
      addUp(sums, JSON.parse(counts) as Counts, webhooks);
      bySteps.set(begin, sums);
    }
    return [...bySteps].filter(([, sums]) => sums.some((sum) => sum !== 0)).map(bucketOf);
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

/** Step by step, because a step has the rows of all accounts. */
function countsOf(table: string, oldest: string): string {
  return `
    WITH RECURSIVE steps (at, until) AS (
      SELECT max(?, ${oldest}), min(?, (SELECT max(at) + 1 FROM ${table}))
      UNION ALL SELECT at + 1, until FROM steps WHERE at + 1 < until
    )
    SELECT steps.at, counts FROM steps CROSS JOIN ${table} ON ${table}.at = steps.at AND account_id = ?
    WHERE steps.at < until`;
}
