/** Answers from the counters. */
import {
  type MinuteAttempts,
  STATS_STEPS_MS,
  type StatsBucket,
  type StatsQuery,
} from '../../../ports/deliveries-view.js';
import type { SqliteFile } from '../open-file.js';
import {
  type Counters,
  type Counts,
  DURATION_BUCKETS,
  FAILED_ATTEMPT,
  HOUR_MS,
  MINUTE_MS,
  SUCCEEDED,
} from './counters.js';
import { STATE } from './delivery-row.js';
import type { Webhooks } from './webhooks.js';

interface CountRow {
  readonly at: number;
  readonly counts: string;
}

export class Stats {
  readonly #sql: ReturnType<typeof statements>;
  readonly #webhooks: Webhooks;
  readonly #counters: Counters;

  constructor(file: SqliteFile, webhooks: Webhooks, counters: Counters) {
    this.#sql = statements(file);
    this.#webhooks = webhooks;
    this.#counters = counters;
  }

  /** @throws SyntaxError if the view is damaged */
  buckets(accountId: number, query: Omit<StatsQuery, 'accountId'>): readonly StatsBucket[] {
    const stepMs = STATS_STEPS_MS[query.step];
    const webhooks = this.#asked(accountId, query);
    const bySteps = new Map<number, number[]>();
    for (const { at, counts } of this.#rows(accountId, query)) {
      const begin = Math.floor(at / stepMs) * stepMs;
      const sums = bySteps.get(begin) ?? [];
      addUp(sums, JSON.parse(counts) as Counts, webhooks);
      bySteps.set(begin, sums);
    }
    const counted = [...bySteps].filter(([, sums]) => sums.some((sum) => sum !== 0));
    return counted.sort(([one], [other]) => one - other).map(bucketOf);
  }

  /** @throws SyntaxError if the view is damaged */
  attempts(accountId: number, from: number): readonly MinuteAttempts[] {
    return this.#rows(accountId, { step: '1m', from, to: Number.MAX_SAFE_INTEGER }).flatMap(({ at, counts }) =>
      Object.entries(JSON.parse(counts) as Counts).map(([webhookId, kinds]) =>
        attemptsOf(at, Number(webhookId), kinds),
      ),
    );
  }

  /** ms since the epoch; null: nothing was counted. */
  since(accountId: number): number | null {
    const since = this.#webhooks.since(accountId);
    return since === null ? null : Math.max(since, (this.#sql.oldest.get(HOUR_MS) as number | null) ?? since);
  }

  /** Step by step, because a step has the rows of all accounts. */
  #rows(accountId: number, { step, from, to }: Pick<StatsQuery, 'step' | 'from' | 'to'>): CountRow[] {
    const by = step === '1m' ? MINUTE_MS : HOUR_MS;
    const begin = step === '1m' ? Math.max(from, this.#counters.oldestMinute()) : from;
    const asked = { by, begin: Math.floor(begin / by) * by, to, accountId };
    return this.#sql.rows.all(asked) as CountRow[];
  }

  /** Null is any. */
  #asked(accountId: number, { webhookId, eventType }: Omit<StatsQuery, 'accountId'>): ReadonlySet<number> | null {
    if (eventType === null) return webhookId === null ? null : new Set([webhookId]);
    const ofType = this.#webhooks.ofType(accountId, eventType);
    return new Set(webhookId === null ? ofType : ofType.filter((id) => id === webhookId));
  }
}

function attemptsOf(at: number, webhookId: number, kinds: Counts[number]): MinuteAttempts {
  const isOfAttempt = ([kind]: readonly [string, number]) =>
    Number(kind) === FAILED_ATTEMPT || Number(kind) >= SUCCEEDED;
  const made = Object.entries(kinds)
    .filter(isOfAttempt)
    .reduce((sum, [, count]) => sum + count, 0);
  return { at, webhookId, made, failed: kinds[FAILED_ATTEMPT] ?? 0 };
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
    exhausted: of(STATE.exhausted),
    cancelled: of(STATE.cancelled) + of(STATE.removed),
    held: of(STATE.held),
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
  const bound = (which: 'min' | 'max') => `(SELECT ${which}(at) FROM counters WHERE step = @by)`;
  return {
    oldest: file.prepare('SELECT min(at) FROM counters WHERE step = ?').pluck(),
    rows: file.prepare(
      `WITH RECURSIVE steps (at) AS (
         SELECT max(@begin, ${bound('min')})
         UNION ALL SELECT at + @by FROM steps WHERE at + @by < @to AND at < ${bound('max')}
       )
       SELECT counters.at, counts FROM steps
       CROSS JOIN counters ON step = @by AND counters.at = steps.at AND account_id = @accountId
       WHERE steps.at < @to`,
    ),
  };
}
