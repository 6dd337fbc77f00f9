/** What add() keeps of each webhook. One write for each webhook of a call. */
import type { ViewAttempt, WebhookHealth } from '../../ports/deliveries-view.js';
import { addCounts, type CountChanges, type DeliveryCounters, isSuccess } from './delivery-counters.js';
import { attemptsOf, type DeliveryRow, EXHAUSTED, HELD, RETRYING } from './delivery-row.js';
import type { RowChange } from './delivery-rows.js';
import type { SqliteFile } from './open-file.js';

/** 0 is never, of all times. */
interface WebhookRow {
  readonly webhook_id: number;
  readonly waiting: number;
  readonly held: number;
  readonly exhausted: number;
  readonly success_at: number;
  readonly failure_at: number;
  readonly failure_status: number | null;
  readonly failure_error: string | null;
  readonly failing_since: number;
}

interface Failure {
  readonly at: number;
  readonly status: number | null;
  readonly error: string | null;
}

interface Gathered {
  readonly accountId: number;
  readonly webhookId: number;
  readonly eventType: string;
  readonly failures: Failure[];
  since: number;
  deliveries: number;
  waiting: number;
  held: number;
  exhausted: number;
  successAt: number;
}

interface OfAccount {
  readonly counts: CountChanges;
  readonly webhooks: Map<number, Gathered>;
}

/** Deliveries whose attempts are read again when a success came later than the failures after it. */
const MOST_READ_AGAIN = 1_000;

export class WebhookChanges {
  readonly #gathered = new Map<number, OfAccount>();

  add(change: RowChange): void {
    const { entry, attempt, before, after } = change;
    const account = this.#account(entry.accountId);
    const of = gatheredOf(account, entry);
    const startedAt = attempt ? Date.parse(attempt.at) : 0;
    addCounts(account.counts, change, startedAt);
    of.since = Math.min(of.since, attempt ? startedAt : of.since, entry.place.timestamp);
    of.deliveries += before === null ? 1 : 0;
    of.waiting += Number(after.state === RETRYING) - Number(before?.state === RETRYING);
    of.held += Number(after.state === HELD) - Number(before?.state === HELD);
    of.exhausted += Number(after.state === EXHAUSTED) - Number(before?.state === EXHAUSTED);
    if (attempt) addAttempt(of, attempt, startedAt);
  }

  /** @param health, counters of the same file, in the same transaction */
  write(health: WebhookHealths, counters: DeliveryCounters): void {
    for (const [accountId, { counts, webhooks }] of this.#gathered) {
      for (const one of webhooks.values()) health.add(one);
      counters.add(accountId, counts);
    }
  }

  #account(accountId: number): OfAccount {
    const known = this.#gathered.get(accountId);
    if (known) return known;
    const account: OfAccount = { counts: new Map(), webhooks: new Map() };
    this.#gathered.set(accountId, account);
    return account;
  }
}

function gatheredOf({ webhooks }: OfAccount, { accountId, webhookId, eventType }: RowChange['entry']): Gathered {
  const known = webhooks.get(webhookId);
  if (known) return known;
  const none = { since: Number.MAX_SAFE_INTEGER, deliveries: 0, waiting: 0, held: 0, exhausted: 0, successAt: 0 };
  const gathered = { accountId, webhookId, eventType, failures: [], ...none };
  webhooks.set(webhookId, gathered);
  return gathered;
}

function addAttempt(of: Gathered, attempt: ViewAttempt, at: number): void {
  if (isSuccess(attempt)) of.successAt = Math.max(of.successAt, at);
  else of.failures.push({ at, status: attempt.status, error: attempt.error });
}

export class WebhookHealths {
  readonly #sql: ReturnType<typeof statements>;

  constructor(file: SqliteFile) {
    this.#sql = statements(file);
  }

  add(of: Gathered): void {
    const { accountId, webhookId, eventType, since, deliveries, waiting, held, exhausted, successAt } = of;
    this.#sql.add.run(accountId, webhookId, eventType, since, deliveries, waiting, held, exhausted, successAt);
    if (of.failures.length > 0) this.#addFailures(of);
  }

  of(accountId: number): ReadonlyMap<number, WebhookHealth> {
    const rows = this.#sql.ofAccount.all(accountId) as WebhookRow[];
    return new Map(rows.map((row) => [row.webhook_id, this.#health(accountId, row)]));
  }

  /** Null if nothing was counted. */
  since(accountId: number): number | null {
    return this.#sql.since.get(accountId) as number | null;
  }

  /** Those that got deliveries of the type; null is any. */
  webhooks(accountId: number, eventType: string | null): readonly number[] {
    return this.#sql.webhooks.all(accountId, eventType, eventType) as number[];
  }

  /** A webhook goes with its last delivery. */
  forget({ account_id, webhook_id, state }: Pick<DeliveryRow, 'account_id' | 'webhook_id' | 'state'>): void {
    const was = [RETRYING, HELD, EXHAUSTED].map((one) => Number(state === one));
    this.#sql.forgetDelivery.run(...was, account_id, webhook_id);
    this.#sql.forgetWebhook.run(account_id, webhook_id);
  }

  #addFailures({ accountId, webhookId, failures }: Gathered): void {
    const row = this.#sql.one.get(accountId, webhookId) as WebhookRow;
    const last = failures.reduce(laterFailure, failureOf(row) ?? (failures[0] as Failure));
    const after = [...failures.map(({ at }) => at), row.failing_since].filter((at) => at > row.success_at);
    // What is outdated stays so: only who asks pays for reading it again.
    const since = isOutdated(row) || after.length === 0 ? row.failing_since : Math.min(...after);
    this.#sql.addFailure.run(last.at, last.status, last.error, since, accountId, webhookId);
  }

  #health(accountId: number, row: WebhookRow): WebhookHealth {
    const { waiting, held, exhausted, success_at } = row;
    const failingSince = this.#failingSince(accountId, row);
    const lastSuccessAt = success_at === 0 ? null : success_at;
    return { lastSuccessAt, lastFailure: failureOf(row), failingSince, waiting, held, exhausted };
  }

  /** Where it is outdated, the deliveries that failed are read again. */
  #failingSince(accountId: number, row: WebhookRow): number | null {
    const { webhook_id, success_at, failure_at, failing_since } = row;
    if (failure_at <= success_at) return null;
    if (!isOutdated(row)) return failing_since;
    const failed = this.#sql.failed.all(accountId, webhook_id, MOST_READ_AGAIN) as Pick<DeliveryRow, 'attempts'>[];
    const starts = failed.flatMap(attemptsOf).map(({ at }) => Date.parse(at));
    return Math.min(failure_at, ...starts.filter((at) => at > success_at));
  }
}

/** A success came after failures that followed it. */
function isOutdated({ success_at, failure_at, failing_since }: WebhookRow): boolean {
  return failing_since <= success_at && success_at < failure_at;
}

function failureOf({ failure_at: at, failure_status: status, failure_error: error }: WebhookRow): Failure | null {
  return at === 0 ? null : { at, status, error };
}

function laterFailure(one: Failure, other: Failure): Failure {
  if (one.at !== other.at) return one.at > other.at ? one : other;
  return textOf(one) >= textOf(other) ? one : other;
}

function textOf({ status, error }: Failure): string {
  return `${status} ${error}`;
}

function statements(file: SqliteFile) {
  const key = 'account_id = ? AND webhook_id = ?';
  return {
    add: file.prepare(
      `INSERT INTO webhooks (account_id, webhook_id, event_type, since, deliveries, waiting, held, exhausted, success_at, failure_at, failing_since)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0)
       ON CONFLICT DO UPDATE SET since = min(since, excluded.since), deliveries = deliveries + excluded.deliveries,
         waiting = waiting + excluded.waiting, held = held + excluded.held,
         exhausted = exhausted + excluded.exhausted, success_at = max(success_at, excluded.success_at)`,
    ),
    addFailure: file.prepare(
      `UPDATE webhooks SET failure_at = ?, failure_status = ?, failure_error = ?, failing_since = ? WHERE ${key}`,
    ),
    one: file.prepare(`SELECT * FROM webhooks WHERE ${key}`),
    ofAccount: file.prepare('SELECT * FROM webhooks WHERE account_id = ?'),
    since: file.prepare('SELECT min(since) FROM webhooks WHERE account_id = ?').pluck(),
    webhooks: file
      .prepare('SELECT webhook_id FROM webhooks WHERE account_id = ? AND (? IS NULL OR event_type = ?)')
      .pluck(),
    failed: file.prepare(
      `SELECT attempts FROM deliveries WHERE ${key} AND answer <> 2 ORDER BY answer, first_at LIMIT +?`,
    ),
    forgetDelivery: file.prepare(
      `UPDATE webhooks SET deliveries = deliveries - 1, waiting = waiting - ?, held = held - ?, exhausted = exhausted - ? WHERE ${key}`,
    ),
    forgetWebhook: file.prepare(`DELETE FROM webhooks WHERE ${key} AND deliveries = 0`),
  };
}
