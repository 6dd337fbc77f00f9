/** A view in another thread (served-view.ts): what is asked goes there, and comes back as a promise. */
import type { MessagePort, TransferListItem } from 'node:worker_threads';
import type { Positions } from '../../ports/broker.js';
import {
  type AccountView,
  type DeliveriesView,
  type ReachedPositions,
  ViewEnded,
  type ViewQueries,
  type ViewRecord,
  type ViewTopic,
} from '../../ports/deliveries-view.js';
import { type Answer, type Call, receivedError, type ServedView, withBytes } from './served-view.js';

export interface ThreadedViewParts {
  /** The ids of an account's webhooks; null: not known. */
  readonly webhookIds: (accountId: number) => readonly number[] | null;
  /** Charges each answer's time in the thread to the user who asked; '' for the service itself. */
  readonly took: (accountId: number, user: string, ms: number) => void;
  /** Called with the name of a file that had to be deleted. */
  readonly onDamaged: (file: string) => void;
}

/** @param port to serveView @throws ViewRefused, ViewEnded */
export async function openThreadedView(port: MessagePort, parts: ThreadedViewParts): Promise<DeliveriesView> {
  const thread = new Thread(port);
  try {
    const opened = await thread.call('opened', []);
    if (opened.damaged !== null) parts.onDamaged(opened.damaged);
    return new ThreadedView(opened, thread, parts);
  } catch (error) {
    thread.leave();
    throw error;
  }
}

class ThreadedView implements DeliveriesView {
  readonly id: string;
  readonly #queries: readonly (keyof ViewQueries)[];
  readonly #thread: Thread;
  readonly #parts: ThreadedViewParts;
  /** By user of an account, the last question: a user asks one after the other, and the thread takes turns between users. */
  readonly #last = new Map<string, Promise<unknown>>();

  constructor({ id, queries }: ReturnType<ServedView['opened']>, thread: Thread, parts: ThreadedViewParts) {
    this.id = id;
    this.#queries = queries;
    this.#thread = thread;
    this.#parts = parts;
  }

  of(accountId: number, user = ''): AccountView {
    const asking = this.#queries.map((query) => {
      return [query, (...asked: readonly unknown[]) => this.#ask({ accountId, user }, query, asked)] as const;
    });
    return { ...(Object.fromEntries(asking) as Omit<AccountView, 'viewId'>), viewId: this.id };
  }

  positions(topic: ViewTopic): Promise<Positions> {
    return this.#thread.call('positions', [topic]);
  }

  add(records: readonly ViewRecord[], reached: ReachedPositions = new Map()): Promise<void> {
    // A record's bytes may be a part of a whole batch, all of which would be sent.
    const sent = records.map((record) => withBytes(record, (part) => new Uint8Array(part)));
    const parts = sent.flatMap(({ value }) => value?.buffer ?? []);
    return this.#thread.call('add', [sent, reached], parts);
  }

  answerAlone(): Promise<void> {
    return this.#thread.call('answerAlone', []);
  }

  forget(before: number): Promise<void> {
    return this.#thread.call('forget', [before]);
  }

  discard(): Promise<void> {
    return this.#thread.end('discard');
  }

  async close(): Promise<void> {
    if (!this.#thread.hasEnded) await this.#thread.end('close');
  }

  #ask({ accountId, user }: Asker, query: keyof ViewQueries, asked: readonly unknown[]): Promise<unknown> {
    const { webhookIds, took } = this.#parts;
    const asker = `${accountId} ${user}`;
    const answer = (this.#last.get(asker) ?? Promise.resolve()).then(() => {
      const account = { accountId, webhookIds: webhookIds(accountId) };
      return this.#thread.call('ask', [account, query, asked]);
    });
    const charged = answer.then(({ value, ms }) => {
      took(accountId, user, ms);
      return value;
    });
    const ended: Promise<unknown> = answer
      .catch(() => undefined)
      .then(() => this.#last.get(asker) === ended && this.#last.delete(asker));
    this.#last.set(asker, ended);
    return charged;
  }
}

interface Asker {
  readonly accountId: number;
  readonly user: string;
}

interface Waiting {
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
}

class Thread {
  readonly #port: MessagePort;
  readonly #waiting = new Map<number, Waiting>();
  #calls = 0;
  hasEnded = false;

  constructor(port: MessagePort) {
    this.#port = port;
    port.on('message', (answer: Answer) => this.#answered(answer));
    port.once('close', () => this.#ended());
  }

  /** @throws ViewUnsound, ViewRefused, ViewEnded */
  call<Name extends keyof ServedView>(
    call: Name,
    given: Parameters<ServedView[Name]>,
    transfer: readonly TransferListItem[] = [],
  ): Promise<Awaited<ReturnType<ServedView[Name]>>> {
    return new Promise((resolve, reject) => {
      if (this.hasEnded) return reject(new ViewEnded('the view is closed'));
      this.#calls += 1;
      this.#waiting.set(this.#calls, { resolve, reject });
      this.#port.postMessage({ n: this.#calls, call, given } satisfies Call, transfer);
    });
  }

  /** The thread has nothing to do then, and ends. */
  async end(call: 'close' | 'discard'): Promise<void> {
    await this.call(call, []).finally(() => this.leave());
  }

  leave(): void {
    this.hasEnded = true;
    this.#port.close();
  }

  #answered({ n, value, error }: Answer): void {
    const waiting = this.#waiting.get(n);
    this.#waiting.delete(n);
    if (error) waiting?.reject(receivedError(error));
    else waiting?.resolve(value as never);
  }

  #ended(): void {
    this.hasEnded = true;
    for (const { reject } of this.#waiting.values()) reject(new ViewEnded('the thread of the view has ended'));
    this.#waiting.clear();
  }
}
