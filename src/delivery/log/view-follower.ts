/**
 * Keeps the deliveries view up to date with its topic, and answers from the view whatever the broker does. Each API process
 * has a complete view, which keeps its own positions in the topic: it stores them together with the entries.
 *
 *   out of reach -> following -> out of reach ...       (no broker, or no file: retried)
 *                      \-> unsound -> out of reach ...  (damaged, or of another topic: discarded and rebuilt)
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from '../../observability/logger.js';
import {
  type Broker,
  BrokerUnavailable,
  type ConsumerState,
  type FollowedPage,
  type Position,
  TopicRecreated,
} from '../../ports/broker.js';
import { type DeliveriesView, type ViewEntry, type ViewRouting, ViewUnsound } from '../../ports/deliveries-view.js';
import { retry, sleep } from '../../time/retry.js';
import { viewEntries } from './view-entry.js';

/** Entries of few records are stored together: a transaction for each would cost as much as all else. */
const GATHER_MS = 50;
/** Entries in a transaction, and what a record has more. Keeps one event-loop turn short. */
const MOST_AT_ONCE = 250;
const TRY_AGAIN_MS = 1_000;
/** Records. */
const MUCH_BEHIND = 1_000;

export interface ViewFollowerParts {
  readonly broker: Pick<Broker, 'ensureTopics' | 'follow'>;
  readonly open: () => DeliveriesView;
  readonly topic: string;
  /** The topic has lost all records before this time, ms since the epoch; null if it is complete. */
  readonly lostBefore: () => number | null;
  readonly logger: Logger;
}

export class ViewFollower {
  readonly #parts: ViewFollowerParts;
  readonly #stopping = new AbortController();
  /** Null before the first successful open, and after the view was found unsound. */
  #view: DeliveriesView | null = null;
  /** Aborted when the follower must release the view. */
  #following = new AbortController();
  /** What is read and not stored yet, and the positions behind it. */
  #gathered: (ViewEntry | ViewRouting)[] = [];
  readonly #reached = new Map<number, Position>();
  #timer: NodeJS.Timeout | null = null;
  /** By partition, what was read of it; null while the topic is not followed. */
  #read: Map<number, Pick<FollowedPage, 'position' | 'end'>> | null = null;
  /** The logged reason why the view lags behind its topic: each reason is logged once, and so is its end. */
  #lagging: string | null = null;

  constructor(parts: ViewFollowerParts) {
    this.#parts = parts;
  }

  /** Returns at once; the view waits for an unreachable broker in the background. */
  start(): void {
    const { signal } = this.#stopping;
    const follow = () => this.#follow().finally(() => this.#release());
    void retry(follow, { signal, failed: (error) => this.#failed(error) });
  }

  /** Why the view may be incomplete, and how far it has read, as of a consumer; null while the topic is not followed. */
  state(): { readonly why: string | null; readonly consumer: ConsumerState | null } {
    const read = this.#read;
    const partitions = [...(read ?? [])].map(([partition, { position, end }]) => {
      return { topic: this.#parts.topic, partition, behind: end - position.offset, head: null, unreadable: null };
    });
    const behind = partitions.reduce((sum, partition) => sum + partition.behind, 0);
    const why = this.#lagging ?? (read ? null : 'the topic has not answered yet');
    return {
      why: why ?? (behind > MUCH_BEHIND ? `${behind} records behind` : null),
      consumer: read && { connected: true, inHand: this.#gathered.length, inHandBytes: 0, partitions },
    };
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

  /** Stores what was gathered, and closes the view. */
  close(): void {
    this.#store();
    this.#stopping.abort();
    this.#release();
    this.#view?.close();
    this.#view = null;
  }

  async #follow(): Promise<void> {
    const { broker, topic, open } = this.#parts;
    this.#view ??= open();
    const positions = this.#view.positions();
    this.#following = new AbortController();
    const { signal } = this.#following;
    await broker.ensureTopics([topic]);
    for await (const page of broker.follow(topic, positions, { signal })) {
      if (signal.aborted) return;
      this.#read ??= new Map();
      await this.#take(page, signal);
    }
  }

  async #take({ partition, items, position, end }: FollowedPage, signal: AbortSignal): Promise<void> {
    for (const item of items) {
      if (!('offset' in item)) continue;
      const { offset, timestamp } = item;
      this.#gathered.push(...viewEntries(item));
      this.#reached.set(partition, { offset: offset + 1, before: { offset, timestamp } });
      if (this.#gathered.length >= MOST_AT_ONCE) await this.#stored(signal);
      if (signal.aborted) return;
    }
    const isNew = this.#read?.get(partition)?.position.offset !== position.offset;
    this.#read?.set(partition, { position, end });
    if (isNew) this.#reached.set(partition, position);
    if (this.#lagging !== null) await this.#stored(signal);
    else if (isNew) this.#timer ??= setTimeout(() => this.#store(), GATHER_MS);
  }

  /** Fulfilled once the gathered entries are stored, or the view is released. */
  async #stored(signal: AbortSignal): Promise<void> {
    while (!this.#store() && !signal.aborted) await sleep(TRY_AGAIN_MS, signal);
    await nextTurn();
  }

  /** False if the entries can't be stored now: they stay gathered. */
  #store(): boolean {
    this.#stopTimer();
    if (!this.#view || this.#reached.size === 0) return true;
    try {
      this.#view.add(this.#gathered, this.#reached);
      this.#gathered = [];
      this.#reached.clear();
      const before = this.#parts.lostBefore();
      if (before !== null) this.#view.forget(before);
      if (this.#lagging !== null) this.#parts.logger.info('the deliveries view continues');
      this.#lagging = null;
      return true;
    } catch (error) {
      this.#failed(error);
      return false;
    }
  }

  /** What was gathered and not stored is read again. */
  #release(): void {
    this.#stopTimer();
    this.#following.abort();
    this.#read = null;
    this.#gathered = [];
    this.#reached.clear();
  }

  #failed(error: unknown): void {
    if (error instanceof ViewUnsound || error instanceof TopicRecreated) {
      this.#discard(error);
      return;
    }
    const why = error instanceof BrokerUnavailable ? 'the broker is unavailable' : 'its file is not writable';
    if (this.#stopping.signal.aborted || this.#lagging === why) return;
    this.#lagging = why;
    this.#parts.logger.warn({ err: error, why }, 'the deliveries view lags behind; retrying');
  }

  #discard(error: Error): void {
    this.#parts.logger.warn({ err: error }, 'rebuilding the deliveries view from its topic');
    const view = this.#view;
    this.#view = null;
    this.#release();
    try {
      view?.discard();
    } catch (failure) {
      this.#failed(failure);
    }
  }

  #stopTimer(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
