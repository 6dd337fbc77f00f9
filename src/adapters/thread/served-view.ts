/** The thread's side of a view: reads records, stores some at a time, and answers questions between two transactions. */
import { setImmediate as nextTick } from 'node:timers/promises';
import type { MessagePort } from 'node:worker_threads';
import type { Position } from '../../ports/broker.js';
import {
  type ReachedPositions,
  type Steps,
  type ViewCore,
  type ViewEntry,
  type ViewedAccount,
  type ViewQueries,
  type ViewRecord,
  ViewRefused,
  type ViewRouting,
  type ViewTopic,
  ViewUnsound,
} from '../../ports/deliveries-view.js';

/**
 * A question waits for a transaction, which shall end within 10 ms: one entry may cost what another does not. The more share
 * one the better: a delivery took 45 us of CPU with 30 in each, 30 with 120, 25 with 240.
 */
const AIM_MS = 8;
/** The same for a query's steps, each of which takes some 5 ms at most: other accounts' queries wait for all of them. */
const SLICE_MS = 8;
const FIRST_RECORDS = 8;
const MOST_RECORDS = 4_096;

export interface ServedViewParts {
  /** A view of a former shape, which is only asked: it answers until the new one has caught up. */
  readonly openFormer: () => ViewCore | null;
  /** @param onDamaged gets the name of a file that had to be deleted */
  readonly open: (onDamaged: (file: string) => void) => ViewCore;
  readonly entriesOf: (record: ViewRecord) => readonly (ViewEntry | ViewRouting)[];
  /** ms of a monotonic clock */
  readonly now: () => number;
}

/** The methods that threaded-view.ts calls. */
function openServed({ openFormer, open, entriesOf, now }: ServedViewParts) {
  let damaged: string | null = null;
  let most = FIRST_RECORDS;
  let former = openFormer();
  const core = open((file) => {
    damaged = file;
  });
  const answering = () => former ?? core;
  const slices = new SliceQueue();
  const queries = Object.keys(core.of({ accountId: 0, webhookIds: null })) as (keyof ViewQueries)[];
  const store = (records: readonly SentRecord[], reached: ReachedPositions) => {
    const begun = now();
    core.add(
      records.flatMap((record) => entriesOf(withBytes(record, asBuffer))),
      reached,
    );
    const fit = Math.floor((records.length * AIM_MS) / Math.max(now() - begun, 0.1));
    // A fourth at least: the thread may have waited for a core.
    most = Math.min(MOST_RECORDS, Math.max(1, fit, Math.floor(most / 4)), 2 * most);
  };
  const ask = async (
    account: ViewedAccount,
    query: keyof ViewQueries,
    asked: readonly unknown[],
  ): Promise<Answered> => {
    const asking = answering();
    try {
      const steps = (asking.of(account)[query] as AnyQuery)(...asked);
      return await inSlices(steps, () => slices.next(account.accountId), now);
    } catch (error) {
      // The former one has been deleted since the query began.
      if (asking === answering()) throw error;
      return ask(account, query, asked);
    }
  };
  return {
    opened: () => ({ id: core.id, damaged, queries }),
    ask,
    positions: (topic: ViewTopic) => core.positions(topic),
    async add(records: readonly SentRecord[], reached: ReachedPositions): Promise<void> {
      for (let at = 0; at < records.length; await nextTick()) {
        const some = records.slice(at, at + most);
        at += some.length;
        store(some, at < records.length ? behind(some) : reached);
      }
      if (records.length === 0) core.add([], reached);
    },
    answerAlone() {
      former?.discard();
      former = null;
    },
    forget: (before: number) => core.forget(before),
    discard() {
      former?.discard();
      core.discard();
    },
    close() {
      former?.close();
      core.close();
    },
  };
}

type AnyQuery = (...asked: readonly unknown[]) => Steps<unknown>;

/** ms: that its steps took. */
interface Answered {
  readonly value: unknown;
  readonly ms: number;
}

/** In each tick of the event loop, an account has one slice: of the query, of all its users', that has waited longest. */
class SliceQueue {
  /** By account, the last slice. Absent: the account has had none in this tick of the event loop, and none waits. */
  readonly #last = new Map<number, Promise<void>>();

  /** Fulfilled when the slice may begin. It has to end without an await. */
  next(accountId: number): Promise<void> {
    const before = this.#last.get(accountId);
    const slice = before ? before.then(() => nextTick()) : Promise.resolve();
    this.#last.set(accountId, slice);
    void slice.then(() => nextTick()).then(() => this.#last.get(accountId) === slice && this.#last.delete(accountId));
    return slice;
  }
}

/** Runs a query to its end; between its slices other queries and records have their turn. */
async function inSlices(steps: Steps<unknown>, nextSlice: () => Promise<void>, now: () => number): Promise<Answered> {
  for (let ms = 0; ; ) {
    await nextSlice();
    const begun = now();
    let step = steps.next();
    while (!step.done && now() - begun < SLICE_MS) step = steps.next();
    ms += now() - begun;
    if (step.done) return { value: step.value, ms };
  }
}

export type ServedView = ReturnType<typeof openServed>;

/** Answers what is asked through the port until its other end is closed. A view that does not open refuses everything. */
export function serveView(port: MessagePort, parts: ServedViewParts): void {
  let served: ServedView | undefined;
  port.on('message', async ({ n, call, given }: Call) => {
    try {
      served ??= openServed(parts);
      const value = await (served[call] as (...asked: readonly unknown[]) => unknown)(...given);
      port.postMessage({ n, value } satisfies Answer);
    } catch (error) {
      port.postMessage({ n, error: sentError(error) } satisfies Answer);
    }
  });
}

export interface Call {
  readonly n: number;
  readonly call: keyof ServedView;
  readonly given: readonly unknown[];
}

export interface Answer {
  readonly n: number;
  readonly value?: unknown;
  readonly error?: ReturnType<typeof sentError>;
}

/** Classes do not pass from thread to thread. */
function sentError(error: unknown) {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  const code = error instanceof ViewUnsound ? ('VIEW_UNSOUND' as const) : ('VIEW_REFUSED' as const);
  return { code, message, stack };
}

export function receivedError({ code, message, stack }: ReturnType<typeof sentError>): Error {
  const cause = Object.assign(new Error(message), { stack });
  return code === 'VIEW_UNSOUND' ? new ViewUnsound(message, { cause }) : new ViewRefused(message, { cause });
}

function behind(records: readonly SentRecord[]): ReachedPositions {
  const reached = new Map<ViewTopic, Map<number, Position>>();
  for (const { topic, partition, offset, timestamp } of records) {
    const positions = reached.get(topic) ?? new Map<number, Position>();
    reached.set(topic, positions.set(partition, { offset: offset + 1, before: { offset, timestamp } }));
  }
  return reached;
}

/** A record with such bytes as its parts. */
interface RecordOf<Bytes extends Uint8Array> extends Omit<ViewRecord, 'key' | 'value' | 'headers'> {
  readonly key: Bytes | null;
  readonly value: Bytes | null;
  readonly headers: readonly (readonly [string, Bytes])[];
}

/** Of a Buffer the other thread gets the bytes. */
type SentRecord = RecordOf<Uint8Array<ArrayBuffer>>;

export function withBytes<From extends Uint8Array, To extends Uint8Array>(
  { key, value, headers, ...record }: RecordOf<From>,
  bytes: (part: From) => To,
): RecordOf<To> {
  const named = headers.map(([name, header]) => [name, bytes(header)] as const);
  return { ...record, key: key && bytes(key), value: value && bytes(value), headers: named };
}

function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
