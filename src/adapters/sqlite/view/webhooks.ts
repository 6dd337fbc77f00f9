/** What the view keeps of each webhook: one write for each in a batch. Failures are found among the attempts. */
import type { WebhookHealth } from '../../../ports/deliveries-view.js';
import type { SqliteFile } from '../open-file.js';
import { parsed } from './attempt-row.js';
import { STATE } from './delivery-row.js';
import type { DeliveryChange } from './delivery-writer.js';
import type { Columns } from './schema.js';

interface Gathered {
  readonly key: readonly [accountId: number, webhookId: number, eventType: string];
  since: number;
  lastAt: number;
  successAt: number | null;
  readonly counts: [waiting: number, held: number, exhausted: number];
}

type WebhookRow = Columns<'webhook_id' | 'waiting' | 'held' | 'exhausted', never> & {
  readonly success_at: number | null;
};
type FailureRow = Columns<'at', never, 'error'> & { readonly status: number | null };

/** Those that are counted, in their order. */
const COUNTED = [STATE.retrying, STATE.held, STATE.exhausted];

export class Webhooks {
  readonly #sql: ReturnType<typeof statements>;

  constructor(file: SqliteFile) {
    this.#sql = statements(file);
  }

  add(changes: readonly DeliveryChange[]): void {
    const gathered = new Map<string, Gathered>();
    for (const change of changes) {
      const { accountId, webhookId, eventType } = change.entry;
      const text = `${accountId} ${webhookId}`;
      const of = gathered.get(text) ?? begun([accountId, webhookId, eventType]);
      gathered.set(text, of);
      gather(of, change);
    }
    for (const { key, since, lastAt, successAt, counts } of gathered.values()) {
      this.#sql.add.run(key, since, lastAt, successAt, counts);
    }
  }

  health(accountId: number): ReadonlyMap<number, WebhookHealth> {
    const rows = this.#sql.ofAccount.all(accountId) as WebhookRow[];
    return new Map(rows.map((row) => [row.webhook_id, this.#healthOf(accountId, row)]));
  }

  /** Null if nothing was counted. */
  since(accountId: number): number | null {
    return this.#sql.since.get(accountId) as number | null;
  }

  /** Those that got deliveries of the type. */
  ofType(accountId: number, eventType: string): readonly number[] {
    return this.#sql.ofType.all(accountId, eventType) as number[];
  }

  forgetDelivery({ account_id, webhook_id, state }: { account_id: number; webhook_id: number; state: number }): void {
    this.#sql.forgetDelivery.run(...COUNTED.map((one) => Number(state === one)), account_id, webhook_id);
  }

  /** Those whose last entry is older. @param before ms since the epoch */
  forget(accountId: number, before: number): void {
    this.#sql.forget.run(accountId, before);
  }

  #healthOf(accountId: number, { webhook_id, success_at, waiting, held, exhausted }: WebhookRow): WebhookHealth {
    const last = this.#sql.lastFailure.get(accountId, webhook_id) as FailureRow | undefined;
    const lastFailure = last ? { ...last, error: parsed(last.error) } : null;
    const failingSince = this.#sql.failingSince.get(accountId, webhook_id, success_at ?? 0) as number | null;
    return { lastSuccessAt: success_at, lastFailure, failingSince, waiting, held, exhausted };
  }
}

function begun(key: Gathered['key']): Gathered {
  return { key, since: Number.MAX_SAFE_INTEGER, lastAt: 0, successAt: null, counts: [0, 0, 0] };
}

function gather(of: Gathered, { since, lastAt, attempts, before, after }: DeliveryChange): void {
  of.since = Math.min(of.since, since);
  of.lastAt = Math.max(of.lastAt, lastAt);
  for (const { at, has_failed } of attempts) if (!has_failed) of.successAt = Math.max(of.successAt ?? 0, at);
  COUNTED.forEach((state, index) => {
    of.counts[index] = (of.counts[index] ?? 0) + Number(after.state === state) - Number(before?.state === state);
  });
}

function statements(file: SqliteFile) {
  const key = 'account_id = ? AND webhook_id = ?';
  const failures = `FROM attempts WHERE ${key} AND has_failed = 1`;
  return {
    add: file.prepare(
      `INSERT INTO webhooks (account_id, webhook_id, event_type, since, last_at, success_at, waiting, held, exhausted)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET since = min(since, excluded.since), last_at = max(last_at, excluded.last_at),
         success_at = max(coalesce(success_at, excluded.success_at), coalesce(excluded.success_at, success_at)),
         waiting = waiting + excluded.waiting, held = held + excluded.held, exhausted = exhausted + excluded.exhausted`,
    ),
    ofAccount: file.prepare('SELECT * FROM webhooks WHERE account_id = ?'),
    since: file.prepare('SELECT min(since) FROM webhooks WHERE account_id = ?').pluck(),
    ofType: file.prepare('SELECT webhook_id FROM webhooks WHERE account_id = ? AND event_type = ?').pluck(),
    lastFailure: file.prepare(`SELECT at, status, error ${failures} ORDER BY at DESC, status DESC, error DESC LIMIT 1`),
    failingSince: file.prepare(`SELECT min(at) ${failures} AND at > ?`).pluck(),
    forgetDelivery: file.prepare(
      `UPDATE webhooks SET waiting = waiting - ?, held = held - ?, exhausted = exhausted - ? WHERE ${key}`,
    ),
    forget: file.prepare(
      'DELETE FROM webhooks WHERE account_id = ? AND last_at < ? AND waiting = 0 AND held = 0 AND exhausted = 0',
    ),
  };
}
