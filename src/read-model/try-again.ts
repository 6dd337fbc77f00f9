/**
 * Accounts that were set aside are retried when a process starts: another release may be able to fold the event. Each is
 * read from the beginning, because its folded state is from the release that set it aside.
 */
import type { Logger } from '../observability/logger.js';
import type { EventStore, RecordedEvent } from '../ports/event-store.js';
import type { SetAside } from '../ports/projection-states.js';
import { type KeyUse, keyUseOf } from '../webhooks/key-use.js';
import { AccountUnreadable } from './account-unreadable.js';
import type { FoldedStates } from './folded-states.js';

/** The caller commits. @returns the accounts that this release can't fold either @throws StoreUnavailable */
export async function foldAsideAgain<S>(
  folded: FoldedStates<S>,
  store: Pick<EventStore, 'read'>,
): Promise<ReadonlyMap<string, SetAside>> {
  const still = new Map<string, SetAside>();
  for (const [stream, before] of folded.setAside) {
    const keys: KeyUse[] = [];
    try {
      const state = await folded.extended(undefined, withKeys(store.read(stream), keys));
      if (state) folded.takeBack(stream, state, keys);
    } catch (error) {
      if (!(error instanceof AccountUnreadable)) throw error;
      if (error.setAside.eventId !== before.eventId) folded.putAside(stream, error.setAside);
      still.set(stream, error.setAside);
    }
  }
  return still;
}

/** @param keys receives the key uses of the events */
export async function* withKeys(events: AsyncIterable<RecordedEvent>, keys: KeyUse[]): AsyncIterable<RecordedEvent> {
  for await (const event of events) {
    const use = keyUseOf(event);
    if (use) keys.push(use);
    yield event;
  }
}

/** Logs each event once, and each account that can be folded again. */
export class AsideTold {
  readonly #logger: Logger;
  readonly #told = new Set<string>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** @param setAside null: the stream is folded again */
  tell(setAside: ReadonlyMap<string, SetAside | null>): void {
    for (const [stream, event] of setAside) {
      if (event === null) this.#logger.info({ stream }, 'an account that was set aside can be read again');
      else if (this.#told.size < this.#told.add(event.eventId).size) {
        this.#logger.error({ stream, ...event }, "an account is set aside: an event of it can't be read");
      }
    }
  }
}
