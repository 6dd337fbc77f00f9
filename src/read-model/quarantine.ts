/**
 * Accounts that cannot be read are set aside, and the others go on: one of their events cannot be folded, or their stream was
 * deleted, has expired or was truncated. Each is read again from the store when a process starts (another release may fold the
 * event), and each minute. A gap in the revisions shows that a stream was hidden; a change of its metadata asks for one look,
 * because a stream that is hidden without a later event has no gap.
 *
 *   folded -> set aside -> (the whole stream can be read) -> folded
 */
import type { Logger } from '../observability/logger.js';
import { type EventStore, type RecordedEvent, StoreRefused, StreamHidden } from '../ports/event-store.js';
import type { SetAside } from '../ports/projection-states.js';
import { sleep } from '../time/retry.js';
import { type KeyUse, keyUseOf } from '../webhooks/envelope.js';
import { AccountUnreadable, setAsideHidden } from './account-unreadable.js';
import { foldAll } from './fold.js';
import type { Projection } from './projection-source.js';
import type { ProjectionStore } from './projection-store.js';

const RETRY_EVERY_MS = 60_000;

export interface QuarantineParts<S> {
  readonly projection: Projection;
  readonly folded: ProjectionStore<S>;
  readonly store: Pick<EventStore, 'read'>;
  readonly logger: Logger;
  /** Makes changes of the folded states durable, and visible. */
  readonly commit: () => void;
}

export class Quarantine<S> {
  readonly #parts: QuarantineParts<S>;
  readonly #logged = new Map<string, string>();
  /** One stream after the other: an earlier answer about a stream never overrides a later one. */
  #queue: Promise<void> = Promise.resolve();

  constructor(parts: QuarantineParts<S>) {
    this.#parts = parts;
  }

  async retryAll(): Promise<void> {
    for (const stream of [...this.#parts.folded.setAside.keys()]) {
      try {
        await this.examine(stream);
      } catch (error) {
        // A store that refuses this stream alone keeps no other one set aside.
        if (!(error instanceof StoreRefused)) return;
      }
    }
  }

  async retryEachMinute(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(RETRY_EVERY_MS, signal);
      if (!signal.aborted) await this.retryAll();
    }
  }

  /** Reads the stream from the store: sets it aside, or folds it again. @throws StoreUnavailable */
  examine(stream: string): Promise<void> {
    const examined = this.#queue.then(() => this.#examine(stream));
    this.#queue = examined.catch(() => undefined);
    return examined;
  }

  /** Logs each account that is set aside or folded again, once. */
  log(setAside: ReadonlyMap<string, SetAside | null>): void {
    const { logger } = this.#parts;
    for (const [stream, found] of setAside) {
      if (found === null) logger.info({ stream }, 'an account that was set aside can be read again');
      else if (this.#logged.get(stream) !== found.why) {
        logger.error({ stream, ...found }, 'an account is set aside: it cannot be read');
      }
      if (found) this.#logged.set(stream, found.why);
      else this.#logged.delete(stream);
    }
  }

  async #examine(stream: string): Promise<void> {
    const { folded, store, commit } = this.#parts;
    const found = await this.#read(stream, store);
    const before = folded.setAside.get(stream);
    if (found.kind === 'unreadable') {
      if (before?.why === found.why) return this.log(new Map([[stream, before]]));
      folded.putAside(stream, found);
    } else {
      if (!before || !found.state) return;
      // The subscription skipped an event while the stream was read: the next retry has it.
      if (folded.skippedUpTo(stream) > found.state.revision) return;
      folded.takeBack(stream, found.state, found.keys);
    }
    commit();
  }

  async #read(stream: string, store: Pick<EventStore, 'read'>) {
    const keys: KeyUse[] = [];
    try {
      const state = await foldAll<S>(this.#parts.projection, withKeys(store.read(stream), keys));
      return { kind: 'readable', state, keys } as const;
    } catch (error) {
      if (error instanceof AccountUnreadable) return { kind: 'unreadable', why: error.setAside.why } as const;
      if (error instanceof StreamHidden) return { kind: 'unreadable', ...setAsideHidden(error) } as const;
      throw error;
    }
  }
}

/** @param keys receives the key uses of the events */
export async function* withKeys(events: AsyncIterable<RecordedEvent>, keys: KeyUse[]): AsyncIterable<RecordedEvent> {
  for await (const event of events) {
    const use = keyUseOf(event);
    if (use) keys.push(use);
    yield event;
  }
}
