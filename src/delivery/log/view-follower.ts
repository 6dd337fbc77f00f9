/**
 * Keeps the deliveries view up to date with its topic, and answers from the view whatever the broker does. The view's
 * id is part of its consumer group's name: each API process has a complete view, and a new view starts at the oldest
 * record.
 *
 *   out of reach -> following -> out of reach ...       (no broker, no file, or the consumer died: retried)
 *                      \-> unsound -> out of reach ...  (damaged, or of another topic: discarded and rebuilt)
 */
import type { Logger } from '../../observability/logger.js';
import { type Broker, BrokerUnavailable, type Consumer, type ConsumerState } from '../../ports/broker.js';
import { type DeliveriesView, type ViewEntry, type ViewRouting, ViewUnsound } from '../../ports/deliveries-view.js';
import { retry } from '../../time/retry.js';
import { viewGroup } from '../groups.js';
import { BatchWriter } from './batch-writer.js';
import { viewEntries } from './view-entry.js';

/** Records, of up to 100 entries each. */
const IN_FLIGHT = 2_000;
const IN_FLIGHT_BYTES = 16 * 1024 * 1024;
/** Records. Those in flight are no lag. */
const MUCH_BEHIND = 1_000;

export interface ViewFollowerParts {
  readonly broker: Pick<Broker, 'consume'>;
  readonly open: () => DeliveriesView;
  readonly topic: string;
  /** The prefix of each view's consumer group. */
  readonly group: string;
  /** The topic has lost all records before this time, ms since the epoch; null if it is complete. */
  readonly lostBefore: () => number | null;
  readonly logger: Logger;
}

export interface ViewState {
  readonly why: string | null;
  readonly consumer: ConsumerState | null;
}

export class ViewFollower {
  readonly #parts: ViewFollowerParts;
  readonly #stopping = new AbortController();
  /** Null before the first successful open, and after the view was found unsound. */
  #view: DeliveriesView | null = null;
  /** Aborted when the follower must release the view. */
  #following = new AbortController();
  #consumer: Consumer | null = null;
  /** The logged reason why the view lags behind its topic: each reason is logged once, and so is its end. */
  #lagging: string | null = null;

  constructor(parts: ViewFollowerParts) {
    this.#parts = parts;
  }

  /** Returns at once; the view waits for an unreachable broker in the background. */
  start(): void {
    const { signal } = this.#stopping;
    void retry(() => this.#follow(), { signal, failed: (error) => this.#lags(error) });
  }

  /** Why the view may be incomplete, and the state of its consumer, if there is one. */
  state(): ViewState {
    const consumer = this.#consumer?.state() ?? null;
    const { partitions = [], connected = false } = consumer ?? {};
    const behind = partitions.reduce((sum, partition) => sum + partition.behind, 0);
    const why = this.#lagging ?? (connected ? null : 'the topic has not answered yet');
    return { why: why ?? (behind > MUCH_BEHIND ? `${behind} records behind` : null), consumer };
  }

  /** The answer as far as the view has caught up; `nothing` while there is no sound view. */
  ask<T>(question: (view: DeliveriesView) => T, nothing: T): T {
    try {
      return this.#view ? question(this.#view) : nothing;
    } catch (error) {
      if (!(error instanceof ViewUnsound)) throw error;
      this.#discard(error);
      return nothing;
    }
  }

  /** Closes the view. The consumer hands out nothing more; the broker waits for its end. */
  close(): void {
    this.#stopping.abort();
    this.#following.abort();
    this.#view?.close();
    this.#view = null;
  }

  /** Fulfilled when the consumer has ended. */
  async #follow(): Promise<void> {
    const { broker, topic, group } = this.#parts;
    this.#view ??= this.#parts.open();
    this.#following = new AbortController();
    const { signal } = this.#following;
    const batch = new BatchWriter((entries) => this.#store(entries));
    signal.addEventListener('abort', () => batch.close());
    try {
      const consumer = await broker.consume({
        topics: [topic],
        group: viewGroup(group, this.#view.id),
        inFlight: IN_FLIGHT,
        inFlightBytes: IN_FLIGHT_BYTES,
        handler: async (record) => {
          const entries = viewEntries(record);
          if (entries.length > 0) await batch.add(entries);
        },
        onUnreadable: async (unreadable) => {
          this.#parts.logger.warn(
            unreadable,
            'a batch of the deliveries topic can not be read: the view lacks its entries',
          );
        },
      });
      this.#consumer = consumer;
      const letGo = () => void consumer.close().catch(() => undefined);
      if (signal.aborted) letGo();
      else signal.addEventListener('abort', letGo);
      this.#keepsUp();
      await consumer.closed;
    } finally {
      this.#consumer = null;
      batch.close();
    }
  }

  /** False if the entries can't be stored now. */
  #store(entries: readonly (ViewEntry | ViewRouting)[]): boolean {
    try {
      if (!this.#view) return false;
      this.#view.add(entries);
      const before = this.#parts.lostBefore();
      if (before !== null) this.#view.forget(before);
      this.#keepsUp();
      return true;
    } catch (error) {
      if (error instanceof ViewUnsound) this.#discard(error);
      else this.#lags(error);
      return false;
    }
  }

  #discard(error: ViewUnsound): void {
    this.#parts.logger.warn({ err: error }, 'rebuilding the deliveries view from its topic');
    const view = this.#view;
    this.#view = null;
    this.#following.abort();
    try {
      view?.discard();
    } catch (failure) {
      this.#lags(failure);
    }
  }

  #lags(error: unknown): void {
    const why = error instanceof BrokerUnavailable ? 'the broker is unavailable' : 'its file is not writable';
    if (this.#stopping.signal.aborted || this.#lagging === why) return;
    this.#lagging = why;
    this.#parts.logger.warn({ err: error, why }, 'the deliveries view lags behind; retrying');
  }

  #keepsUp(): void {
    if (this.#lagging === null) return;
    this.#lagging = null;
    this.#parts.logger.info('the deliveries view continues');
  }
}
