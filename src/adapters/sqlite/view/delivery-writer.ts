/** Folds the entries of an event's deliveries into their rows, in memory, and writes each row once. */
import type { ViewEntry } from '../../../ports/deliveries-view.js';
import { statusOf } from '../../../ports/delivery-order.js';
import type { SqliteFile } from '../open-file.js';
import { type AttemptRow, answerTo, attemptRow, inOrder, sameAs } from './attempt-row.js';
import { type FoldedDelivery, type Said, SaidStatus, STATE, stateOf, withEntry } from './delivery-row.js';
import type { Columns } from './schema.js';

/** What holds, and which entry said so. */
export type Held = Pick<Said, 'state' | 'said_at' | 'partition'>;

interface NewAttempt extends AttemptRow {
  readonly partition: number;
}

/** What entries changed in a delivery. */
export interface DeliveryChange {
  /** One of them. */
  readonly entry: ViewEntry;
  readonly before: Held | null;
  readonly after: Held;
  readonly attempts: readonly NewAttempt[];
  /** Of its entries: the first publication or start of an attempt, and the last publication. */
  readonly since: number;
  readonly lastAt: number;
}

/** A delivery while entries are folded. */
export interface OpenDelivery {
  readonly webhookId: number;
  readonly stored: StoredFold | null;
  readonly entries: ViewEntry[];
  state: number;
  folded: FoldedDelivery | null;
  /** Null: no entry has one, and the stored ones are not read. */
  attempts: AttemptRow[] | null;
  /** Stored attempts: later ones are new. */
  known: number;
  /** Those to write, by number. */
  readonly changed: Map<number, NewAttempt>;
}

type StoredFold = Columns<
  | ('row' | 'webhook_id' | 'state' | 'answer' | 'last_state' | 'last_chain' | 'last_made' | 'last_said_at')
  | ('last_partition' | 'given_chain' | 'given_made' | 'given_said_at' | 'given_partition' | 'last_at'),
  'id',
  'error' | 'next_at' | 'waiting_for' | 'requested'
> & { readonly step: number | null; readonly given_state: number | null; readonly progressed: number | null };

const KEY = ['event', 'account_id', 'webhook_id', 'first_at', 'id', 'webhook_event'] as const;
const CHANGING = [
  ...(['state', 'answer', 'error'] as const),
  ...(['last_state', 'last_chain', 'last_made', 'last_said_at', 'last_partition'] as const),
  ...(['next_at', 'waiting_for', 'step'] as const),
  ...(['given_state', 'given_chain', 'given_made', 'given_said_at', 'given_partition'] as const),
  ...(['progressed', 'requested', 'last_at'] as const),
] as const;

export class DeliveryWriter {
  readonly #sql: ReturnType<typeof statements>;

  constructor(file: SqliteFile) {
    this.#sql = statements(file);
  }

  /** All deliveries of the event, with the entries folded. @param event its row; null: it is new */
  folded(event: number | null, entries: readonly ViewEntry[]): readonly OpenDelivery[] {
    const stored = event === null ? [] : (this.#sql.ofEvent.all(event) as StoredFold[]);
    const all = new Map(stored.map((row) => [`${row.webhook_id} ${row.id}`, opened(row.webhook_id, row)]));
    for (const entry of entries) {
      const key = `${entry.webhookId} ${entry.id}`;
      const known = all.get(key) ?? opened(entry.webhookId, null);
      all.set(key, known);
      this.#fold(known, entry);
    }
    for (const one of all.values()) if (one.folded) one.state = stateOf(one.folded, lastAnswer(one).answer);
    return [...all.values()];
  }

  /** @param event its row @returns null if nothing of it was added */
  write(event: number, delivery: OpenDelivery): DeliveryChange | null {
    const { stored, folded, entries, changed, state } = delivery;
    const [entry] = entries;
    if (!folded || !entry) return null;
    const row = stored === null ? this.#insert(event, entry, delivery, folded) : this.#update(stored, delivery, folded);
    for (const attempt of changed.values()) this.#writeAttempt(row, entry, attempt);
    this.#writeRecovered(row, delivery);
    return {
      entry,
      before: stored && heldIn(foldedIn(stored), stored.state),
      after: heldIn(folded, state),
      attempts: [...changed.values()].filter(({ number }) => number >= delivery.known),
      since: Math.min(...entries.map(beginOf)),
      lastAt: folded.lastAt,
    };
  }

  #fold(delivery: OpenDelivery, entry: ViewEntry): void {
    const { stored, entries } = delivery;
    delivery.folded = withEntry(delivery.folded ?? (stored && foldedIn(stored)), entry);
    entries.push(entry);
    if (!entry.attempt) return;
    const { attempts, changed } = this.#withAttempts(delivery);
    const added = attemptRow(entry, attempts.length) as AttemptRow;
    const same = sameAs(attempts, added);
    if (same && (same.response ?? '') >= (added.response ?? '')) return;
    const row = { ...added, number: same?.number ?? added.number, partition: entry.place.partition };
    attempts[row.number] = row;
    changed.set(row.number, row);
  }

  #withAttempts(delivery: OpenDelivery): OpenDelivery & { readonly attempts: AttemptRow[] } {
    if (delivery.attempts === null) {
      delivery.attempts = delivery.stored ? (this.#sql.attempts.all(delivery.stored.row) as AttemptRow[]) : [];
      delivery.known = delivery.attempts.length;
    }
    return delivery as OpenDelivery & { readonly attempts: AttemptRow[] };
  }

  #insert(event: number, entry: ViewEntry, delivery: OpenDelivery, folded: FoldedDelivery): number {
    const { accountId, webhookId, firstAt, id, webhookEvent } = entry;
    const values = changing(delivery, folded);
    return Number(this.#sql.insert.run(event, accountId, webhookId, firstAt, id, webhookEvent, values).lastInsertRowid);
  }

  #update({ row }: StoredFold, delivery: OpenDelivery, folded: FoldedDelivery): number {
    this.#sql.update.run(changing(delivery, folded), row);
    return row;
  }

  #writeAttempt(row: number, { accountId, webhookId }: ViewEntry, attempt: AttemptRow): void {
    const { number, at, has_failed, status, error, duration_ms, version } = attempt;
    const { reason, triggered_by, actor, response } = attempt;
    const made = [number, accountId, webhookId, at, has_failed, status, error, duration_ms, version];
    this.#sql.putAttempt.run(row, made, reason, triggered_by, actor, response);
  }

  #writeRecovered(row: number, { entries, stored, state }: OpenDelivery): void {
    if (stored && stored.requested !== null && stored.state !== state) this.#sql.setRecovered.run(state, row);
    for (const { recovery, accountId, outcome } of entries) {
      if (recovery !== null && outcome !== 'cancelled') this.#sql.addRecovered.run(accountId, recovery, row, state);
    }
  }
}

function opened(webhookId: number, stored: StoredFold | null): OpenDelivery {
  const state = stored?.state ?? STATE.retrying;
  return { webhookId, stored, entries: [], state, folded: null, attempts: null, known: 0, changed: new Map() };
}

function foldedIn(row: StoredFold): FoldedDelivery {
  const { next_at, waiting_for, step, given_state } = row;
  const {
    last_state: state,
    last_chain: chain,
    last_made: made,
    last_said_at: said_at,
    last_partition: partition,
  } = row;
  const last = new SaidStatus({ state, chain, made, said_at, partition, next_at, waiting_for, step });
  const givenUp = given_state === null ? null : new SaidStatus(givenIn(row, given_state));
  const requested = row.requested === null ? [] : (JSON.parse(row.requested) as number[]);
  return { fold: { last, givenUp }, progressed: row.progressed, requested, lastAt: row.last_at };
}

function givenIn(row: StoredFold, state: number): Said {
  const { given_chain: chain, given_made: made, given_said_at: said_at, given_partition: partition } = row;
  return { state, chain, made, said_at, partition, next_at: null, waiting_for: null, step: null };
}

function heldIn({ fold }: FoldedDelivery, state: number): Held {
  const { said_at, partition } = statusOf(fold).said;
  return { state, said_at, partition };
}

function lastAnswer({ attempts, stored }: OpenDelivery): { readonly answer: number; readonly error: string | null } {
  if (attempts === null) return stored ?? { answer: 0, error: null };
  const last = inOrder(attempts).at(-1);
  return { answer: answerTo(last?.status ?? null), error: last?.error ?? null };
}

function beginOf({ attempt, place }: ViewEntry): number {
  return attempt ? Math.min(Date.parse(attempt.at) || place.timestamp, place.timestamp) : place.timestamp;
}

/** The values of CHANGING. */
function changing(delivery: OpenDelivery, { fold, progressed, requested, lastAt }: FoldedDelivery) {
  const { answer, error } = lastAnswer(delivery);
  const { state, chain, made, said_at, partition, next_at, waiting_for, step } = fold.last.said;
  const last = [state, chain, made, said_at, partition, next_at, waiting_for, step];
  const given = fold.givenUp?.said;
  const givenUp = given
    ? [given.state, given.chain, given.made, given.said_at, given.partition]
    : [null, null, null, null, null];
  const chains = [progressed, requested.length === 0 ? null : JSON.stringify(requested)];
  return [delivery.state, answer, error, ...last, ...givenUp, ...chains, lastAt];
}

function statements(file: SqliteFile) {
  const columns = [...KEY, ...CHANGING];
  const set = CHANGING.map((name) => `${name} = ?`).join();
  return {
    ofEvent: file.prepare(`SELECT row, webhook_id, id, ${CHANGING.join()} FROM deliveries WHERE event = ?`),
    insert: file.prepare(`INSERT INTO deliveries (${columns.join()}) VALUES (${columns.map(() => '?').join()})`),
    update: file.prepare(`UPDATE deliveries SET ${set} WHERE row = ?`),
    attempts: file.prepare('SELECT * FROM attempts WHERE delivery = ? ORDER BY number'),
    putAttempt: file.prepare(
      `INSERT OR REPLACE INTO attempts (delivery, number, account_id, webhook_id, at, has_failed, status, error,
         duration_ms, version, reason, triggered_by, actor, response)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    addRecovered: file.prepare(
      'INSERT OR IGNORE INTO recovered (account_id, recovery, delivery, state) VALUES (?, ?, ?, ?)',
    ),
    setRecovered: file.prepare('UPDATE recovered SET state = ? WHERE delivery = ?'),
  };
}
