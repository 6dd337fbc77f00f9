/** Reads a topic of the embedded broker, without a group: up to its end at the start, or continuously. */
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { BrowseOptions, ReceivedRecord, UnreadableBatch } from '../../ports/broker.js';
import type { RecordLog } from './record-log.js';
import type { StoreFile } from './store-file.js';

const PAGE = 500;

export interface BrowseParts {
  readonly store: Pick<StoreFile, 'onChange'>;
  readonly log: Pick<RecordLog, 'end' | 'page'>;
  /** Runs a read and translates its errors. */
  readonly read: <T>(work: () => T) => Promise<T>;
}

export async function* browseTopic(
  parts: BrowseParts,
  topic: string,
  { ranges, follow, onUnreadable }: BrowseOptions,
): AsyncIterable<ReceivedRecord> {
  const { from = 0, to = Number.POSITIVE_INFINITY } = ranges ? (ranges.get(0) ?? { to: 0 }) : {};
  const changes = follow ? new Changes(parts.store, follow) : null;
  let next = from;
  try {
    do {
      const end = Math.min(to, await parts.read(() => parts.log.end(topic)));
      for await (const one of pages(parts, topic, { from: next, to: end })) {
        if (follow?.aborted) return;
        if (!('digest' in one)) yield one;
        else onUnreadable?.(one);
      }
      next = Math.max(next, end);
    } while (await changes?.next());
  } finally {
    changes?.close();
  }
}

async function* pages(
  { log, read }: BrowseParts,
  topic: string,
  { from, to }: { readonly from: number; readonly to: number },
): AsyncIterable<ReceivedRecord | UnreadableBatch> {
  for (let next = from; next < to; await nextTurn()) {
    const { page, next: behind } = await read(() => log.page(topic, next, Math.min(PAGE, to - next)));
    for (const one of page) if (('digest' in one ? one.first : one.offset) < to) yield one;
    next = page.length === 0 ? to : behind;
  }
}

/** Commits to the file, by any process; none is missed between two calls of next. */
class Changes {
  readonly #target = new EventTarget();
  readonly #signal: AbortSignal;
  readonly #unsubscribe: () => void;
  readonly #tell = () => void this.#target.dispatchEvent(new Event('change'));
  #seen = false;

  constructor(store: Pick<StoreFile, 'onChange'>, signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener('abort', this.#tell);
    this.#unsubscribe = store.onChange(() => {
      this.#seen = true;
      this.#tell();
    });
  }

  /** True after a change; false once the signal aborts. */
  async next(): Promise<boolean> {
    if (!this.#seen && !this.#signal.aborted) await once(this.#target, 'change');
    this.#seen = false;
    return !this.#signal.aborted;
  }

  close(): void {
    this.#unsubscribe();
    this.#signal.removeEventListener('abort', this.#tell);
  }
}
