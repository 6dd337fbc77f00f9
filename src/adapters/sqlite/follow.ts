/** Reads a topic of the embedded broker from a position on, in no group. */
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type FollowedPage, type Position, positionBehind } from '../../ports/broker.js';
import { sleep } from '../../time/retry.js';
import type { RecordLog } from './record-log.js';
import type { StoreFile } from './store-file.js';

const PAGE = 500;
/** Under load every commit is a change: what they bring is read together. */
const GATHER_MS = 20;

export interface FollowParts {
  readonly store: Pick<StoreFile, 'onChange'>;
  readonly log: Pick<RecordLog, 'extent' | 'page'>;
  /** Runs a read and translates its errors. */
  readonly read: <T>(work: () => T) => Promise<T>;
}

export async function* followTopic(
  { store, log, read }: FollowParts,
  topic: string,
  from: Position,
  signal: AbortSignal,
): AsyncIterable<FollowedPage> {
  const changes = new Changes(store, topic, signal);
  let position = from;
  try {
    while (!signal.aborted) {
      const { end, page, next, atEnd } = await read(() => {
        const { next: end = 0 } = log.extent(topic) ?? {};
        return { end, ...log.page(topic, position.offset, PAGE) };
      });
      // Retention may have removed all that there was.
      position = positionBehind(position, page, page.length === 0 ? end : next);
      yield { partition: 0, items: page, position, end: Math.max(end, position.offset) };
      await (atEnd ? changes.next() : nextTurn());
      if (atEnd) await sleep(GATHER_MS, signal);
    }
  } finally {
    changes.close();
  }
}

/** Commits to the topic, by any process; none is missed between two calls of next. */
class Changes {
  readonly #target = new EventTarget();
  readonly #signal: AbortSignal;
  readonly #unsubscribe: () => void;
  readonly #notify = () => void this.#target.dispatchEvent(new Event('change'));
  #seen = false;

  constructor(store: Pick<StoreFile, 'onChange'>, topic: string, signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener('abort', this.#notify);
    this.#unsubscribe = store.onChange((touched) => {
      if (touched && !touched.has(topic)) return;
      this.#seen = true;
      this.#notify();
    });
  }

  /** Fulfilled after a change, and once the signal aborts. */
  async next(): Promise<void> {
    if (!this.#seen && !this.#signal.aborted) await once(this.#target, 'change');
    this.#seen = false;
  }

  close(): void {
    this.#unsubscribe();
    this.#signal.removeEventListener('abort', this.#notify);
  }
}
