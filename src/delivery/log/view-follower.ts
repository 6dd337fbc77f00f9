/**
 * Keeps the deliveries view up to date with its topics, and answers from the view whatever the broker does. Each API process
 * has a complete view, which keeps its own positions in the topics: it stores them together with the entries.
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
  type Extent,
  type FollowedPage,
  type Position,
  TopicRecreated,
} from '../../ports/broker.js';
import {
  type AskView,
  type DeliveriesView,
  VIEW_TOPICS,
  type ViewEntry,
  type ViewRouting,
  type ViewTopic,
  ViewUnsound,
} from '../../ports/deliveries-view.js';
import { retry, sleep } from '../../time/retry.js';
import { requestedEntries, viewEntries } from './view-entry.js';

/** Entries of few records are stored together: a transaction for each would cost as much as all else. */
const GATHER_MS = 50;
/** Entries in a transaction, and what a record has more. Keeps one event-loop turn short. */
const MOST_AT_ONCE = 250;
const TRY_AGAIN_MS = 1_000;
/** Records. */
const MUCH_BEHIND = 1_000;
const ENTRIES = { deliveries: viewEntries, requests: requestedEntries };

export interface ViewFollowerParts {
  readonly broker: Pick<Broker, 'ensureTopics' | 'follow' | 'extent'>;
  readonly open: () => DeliveriesView;
  /** Their names. */
  readonly topics: { readonly [Of in ViewTopic]: string };
  /** The topics have lost all records before this time, ms since the epoch; null if they are complete. */
  readonly lostBefore: () => number | null;
  readonly logger: Logger;
}

export class ViewFollower implements AskView {
  readonly #parts: ViewFollowerParts;
  readonly #stopping = new AbortController();
  /** Null before the first successful open, and after the view was found unsound. */
  #view: DeliveriesView | null = null;
  /** What the view has to have before it has caught up; null: not yet known. */
  #ends: ViewEnds | 'passed' | null = null;
  /** Aborted when the follower must release the view. */
  #following = new AbortController();
  /** What is read and not stored yet, and the positions behind it. */
  #gathered: (ViewEntry | ViewRouting)[] = [];
  readonly #reached = new Map<ViewTopic, Map<number, Position>>();
  #timer: NodeJS.Timeout | undefined;
  /** How far each partition was read; a topic that is not followed is missing. */
  readonly #read = new Map<ViewTopic, Map<number, Pick<FollowedPage, 'position' | 'end'>>>();
  /** The logged reason why the view lags behind its topics: each reason is logged once, and so is its end. */
  #lagging: string | null = null;

  constructor(parts: ViewFollowerParts) {
    this.#parts = parts;
  }

  get isCaughtUp(): boolean {
    return this.#ends === 'passed';
  }

  /** Returns at once; the view waits for an unreachable broker in the background. */
  start(): void {
    const { signal } = this.#stopping;
    const follow = () => this.#follow().finally(() => this.#release());
    void retry(follow, { signal, failed: (error) => this.#failed(error) });
  }

  /** Why the view may be incomplete, and how far it has read, as of a consumer; null while a topic is not followed. */
  state(): { readonly why: string | null; readonly consumer: ConsumerState | null } {
    const partitions = [...this.#read].flatMap(([topic, read]) =>
      [...read].map(([partition, { position, end }]) => {
        const behind = end - position.offset;
        return { topic: this.#parts.topics[topic], partition, behind, head: null, unreadable: null };
      }),
    );
    const behind = partitions.reduce((sum, partition) => sum + partition.behind, 0);
    const unread = VIEW_TOPICS.find((topic) => !this.#read.has(topic));
    const why = this.#lagging ?? (unread ? `the topic of ${unread} has not answered yet` : null);
    return {
      why: why ?? (behind > MUCH_BEHIND ? `${behind} records behind` : null),
      consumer: unread ? null : { connected: true, inHand: this.#gathered.length, inHandBytes: 0, partitions },
    };
  }

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
    const { broker, topics, open } = this.#parts;
    this.#view ??= open();
    const view = this.#view;
    this.#following = new AbortController();
    const { signal } = this.#following;
    await broker.ensureTopics(VIEW_TOPICS.map((of) => topics[of]));
    if (!this.isCaughtUp) this.#ends = await viewEnds(broker, topics);
    if (signal.aborted) return;
    this.#lookWhetherCaughtUp(view);
    await Promise.all(VIEW_TOPICS.map((topic) => this.#followTopic(topic, view, signal)));
  }

  async #followTopic(topic: ViewTopic, view: DeliveriesView, signal: AbortSignal): Promise<void> {
    const { broker, topics } = this.#parts;
    for await (const page of broker.follow(topics[topic], view.positions(topic), { signal })) {
      if (signal.aborted) return;
      await this.#take(topic, page, signal);
    }
  }

  async #take(topic: ViewTopic, { partition, items, position, end }: FollowedPage, signal: AbortSignal): Promise<void> {
    for (const item of items) {
      if (!('offset' in item)) continue;
      const { offset, timestamp } = item;
      this.#gathered.push(...ENTRIES[topic](item));
      partitionsIn(this.#reached, topic).set(partition, { offset: offset + 1, before: { offset, timestamp } });
      if (this.#gathered.length >= MOST_AT_ONCE) await this.#stored(signal);
      if (signal.aborted) return;
    }
    const read = partitionsIn(this.#read, topic);
    const isNew = read.get(partition)?.position.offset !== position.offset;
    read.set(partition, { position, end });
    if (isNew) partitionsIn(this.#reached, topic).set(partition, position);
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
      this.#lookWhetherCaughtUp(this.#view);
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

  #lookWhetherCaughtUp(view: DeliveriesView): void {
    if (this.#ends && this.#ends !== 'passed' && hasPassed(view, this.#ends)) this.#ends = 'passed';
  }

  /** What was gathered and not stored is read again. */
  #release(): void {
    this.#stopTimer();
    this.#following.abort();
    this.#read.clear();
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
    this.#parts.logger.warn({ err: error }, 'rebuilding the deliveries view from its topics');
    const view = this.#view;
    this.#view = null;
    this.#ends = null;
    this.#release();
    try {
      view?.discard();
    } catch (failure) {
      this.#failed(failure);
    }
  }

  #stopTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

function partitionsIn<T>(byTopic: Map<ViewTopic, Map<number, T>>, topic: ViewTopic): Map<number, T> {
  const known = byTopic.get(topic) ?? new Map<number, T>();
  byTopic.set(topic, known);
  return known;
}

type ViewEnds = ReadonlyMap<ViewTopic, ReadonlyMap<number, Extent>>;

/** The ends that both topics have now: to have passed them is to have what the topics had. @throws BrokerUnavailable */
export async function viewEnds(
  broker: Pick<Broker, 'extent'>,
  topics: { readonly [Of in ViewTopic]: string },
): Promise<ViewEnds> {
  return new Map(await Promise.all(VIEW_TOPICS.map(async (of) => [of, await broker.extent(topics[of])] as const)));
}

/** @throws ViewUnsound */
export function hasPassed(view: Pick<DeliveriesView, 'positions'>, ends: ViewEnds): boolean {
  return [...ends].every(([topic, partitions]) => {
    const positions = view.positions(topic);
    // Of an empty partition there may be no position.
    return [...partitions].every(([of, { first, next }]) => first === next || (positions.get(of)?.offset ?? 0) >= next);
  });
}
