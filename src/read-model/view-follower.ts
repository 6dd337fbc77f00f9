/**
 * Keeps the deliveries view up to date with its topics, and answers from the view whatever the broker does. Each API process
 * has a complete view, which keeps its own positions in the topics: it stores them together with the entries.
 *
 *   out of reach -> following -> out of reach ...       (no broker, or no file: retried)
 *                      \-> unsound -> out of reach ...  (damaged, or of another topic: discarded and rebuilt)
 */
import type { Logger } from '../observability/logger.js';
import {
  type Broker,
  BrokerUnavailable,
  type ConsumerState,
  type FollowedPage,
  heldBytes,
  TopicRecreated,
} from '../ports/broker.js';
import {
  type AccountView,
  type AskView,
  type DeliveriesView,
  type ReachedPositions,
  VIEW_TOPICS,
  ViewEnded,
  type ViewEnds,
  type ViewRecord,
  ViewRefused,
  type ViewTopic,
  ViewUnsound,
} from '../ports/deliveries-view.js';
import { retry } from '../time/retry.js';

/** The delay of a record's read while others arrive: reads of few records cost as much as the records. */
const READ_GATHER_MS = 100;
/**
 * Few records are stored in one transaction, because what it writes depends little on their number. A question stores them first,
 * so that it sees everything that was read.
 */
const STORE_GATHER_MS = 500;
/** Read and not stored yet; more are read only once these are stored: a question waits for them. */
const MOST_BYTES = 512 * 1024;
/** Records. */
const MUCH_BEHIND = 1_000;
const NOTHING: ViewEnds = new Map();

export interface ViewFollowerParts {
  readonly broker: Pick<Broker, 'ensureTopics' | 'follow' | 'extent'>;
  readonly open: () => Promise<DeliveriesView>;
  /** Their names. */
  readonly topics: { readonly [Of in ViewTopic]: string };
  /** The topics have lost all records before this time, ms since the epoch; null if they are complete. */
  readonly lostBefore: () => number | null;
  readonly logger: Logger;
}

export class ViewFollower implements AskView {
  readonly #parts: ViewFollowerParts;
  readonly #stopping = new AbortController();
  /** Null before the first successful open, and after the view has ended or was found unsound. */
  #view: DeliveriesView | null = null;
  /** What is asked meanwhile waits. */
  #opening: Promise<void> = Promise.resolve();
  /** Before it has ended, the next view is not opened. */
  #discarding: Promise<void> = Promise.resolve();
  /** What the view has yet to pass before it has caught up; null: not yet known. */
  #ends: ViewEnds | null = null;
  /** Aborted when the follower must release the view. */
  #following = new AbortController();
  /** Read and not stored yet. */
  #gathered: ViewRecord[] = [];
  #storing: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  /** How far each partition was read, by topic and partition; a topic that is not followed is missing. */
  readonly #read = new Map<string, Omit<FollowedPage, 'items'> & { readonly topic: ViewTopic }>();
  /** The logged reason why the view lags behind its topics: each reason is logged once, and so is its end. */
  #lagging: string | null = null;

  constructor(parts: ViewFollowerParts) {
    this.#parts = parts;
  }

  get isCaughtUp(): boolean {
    return this.#ends === NOTHING;
  }

  /** Returns at once; the view waits for an unreachable broker in the background. */
  start(): void {
    const { signal } = this.#stopping;
    const follow = () => this.#follow().finally(() => this.#release());
    void retry(follow, { signal, failed: (error) => this.#failed(error) });
  }

  /** Fulfilled once the view was opened for the first time, or could not be. */
  opened(): Promise<void> {
    return this.#opening.catch(() => undefined);
  }

  /** Why the view may be incomplete, and how far it has read, as of a consumer; null while a topic is not followed. */
  state(): { readonly why: string | null; readonly consumer: ConsumerState | null } {
    const read = [...this.#read.values()];
    const partitions = read.map(({ topic, partition, position, end }) => {
      const behind = end - position.offset;
      return { topic: this.#parts.topics[topic], partition, behind, head: null, unreadable: null };
    });
    const behind = partitions.reduce((sum, partition) => sum + partition.behind, 0);
    const unread = VIEW_TOPICS.find((topic) => !read.some((one) => one.topic === topic));
    const why = this.#lagging ?? (unread ? `the topic of ${unread} has not answered yet` : null);
    return {
      why: why ?? (behind > MUCH_BEHIND ? `${behind} records behind` : null),
      consumer: unread ? null : { connected: true, inHand: this.#gathered.length, partitions },
    };
  }

  ask<T>(accountId: number, question: (view: AccountView) => Promise<T>, user?: string): Promise<T | null> {
    return this.#answer((view) => question(view.of(accountId, user)));
  }

  idBehind(ends: ViewEnds): Promise<string | null> {
    // Before it has caught up, another one may answer.
    return this.#answer(async (view) => (this.isCaughtUp && (await hasPassed(view, ends)) ? view.id : null));
  }

  /** Stores what was gathered, and closes the view. */
  async close(): Promise<void> {
    await this.#store();
    this.#stopping.abort();
    // One that is being opened is closed where it is opened: its file may be another process's as soon as this is fulfilled.
    await this.opened();
    const view = this.#view;
    this.#leave();
    await view?.close();
  }

  async #answer<T>(question: (view: DeliveriesView) => Promise<T>): Promise<T | null> {
    if (!this.#view) await this.#opening.catch(() => undefined);
    const view = this.#view;
    if (!view) return null;
    if (this.#gathered.length > 0) await this.#store();
    try {
      return await question(view);
    } catch (error) {
      if (!isOfView(error)) throw error;
      if (this.#view === view) this.#failed(error);
      return null;
    }
  }

  async #follow(): Promise<void> {
    const { broker, topics } = this.#parts;
    this.#opening = this.#open();
    await this.#opening;
    const view = this.#view;
    if (!view) return;
    this.#following = new AbortController();
    const { signal } = this.#following;
    await broker.ensureTopics(VIEW_TOPICS.map((of) => topics[of]));
    this.#ends ??= await viewEnds(broker, topics);
    await this.#lookWhetherCaughtUp(view);
    if (signal.aborted) return;
    await Promise.all(VIEW_TOPICS.map((topic) => this.#followTopic(topic, view, signal)));
  }

  async #open(): Promise<void> {
    await Promise.all([this.#discarding, this.#storing]);
    const view = this.#view ?? (await this.#parts.open());
    if (this.#stopping.signal.aborted) await view.close();
    else this.#view = view;
  }

  async #followTopic(topic: ViewTopic, view: DeliveriesView, signal: AbortSignal): Promise<void> {
    const { broker, topics } = this.#parts;
    for await (const page of broker.follow(topics[topic], await view.positions(topic), {
      signal,
      gatherMs: READ_GATHER_MS,
    })) {
      if (signal.aborted) return;
      await this.#take(topic, page);
    }
  }

  async #take(topic: ViewTopic, { partition, items, position, end }: FollowedPage): Promise<void> {
    const key = `${topic} ${partition}`;
    const isNew = this.#read.get(key)?.position.offset !== position.offset;
    this.#read.set(key, { topic, partition, position, end });
    if (!isNew) return;
    for (const item of items) if ('offset' in item) this.#gathered.push({ ...item, topic });
    if (this.#lagging !== null || this.#gatheredBytes >= MOST_BYTES) await this.#store();
    else this.#timer ??= setTimeout(() => this.#store(), STORE_GATHER_MS).unref();
  }

  get #gatheredBytes(): number {
    return this.#gathered.reduce((sum, record) => sum + heldBytes(record), 0);
  }

  /** Fulfilled once what is gathered is stored, or the view is released: then it is read again. */
  #store(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#storing = this.#storing.then(() => this.#storeGathered());
    return this.#storing;
  }

  async #storeGathered(): Promise<void> {
    const view = this.#view;
    if (!view || this.#read.size === 0) return;
    const records = this.#gathered;
    this.#gathered = [];
    try {
      await view.add(records, this.#reached());
      await this.#lookWhetherCaughtUp(view);
      const before = this.#parts.lostBefore();
      if (before !== null) await view.forget(before);
      if (this.#lagging !== null) this.#parts.logger.info('the deliveries view continues');
      this.#lagging = null;
    } catch (error) {
      if (this.#view !== view) return;
      this.#failed(error);
      this.#release();
    }
  }

  async #lookWhetherCaughtUp(view: DeliveriesView): Promise<void> {
    try {
      if (!this.#ends || this.isCaughtUp || !(await hasPassed(view, this.#ends))) return;
      await view.answerAlone();
      if (this.#view === view) this.#ends = NOTHING;
    } catch (error) {
      // A question has found it damaged meanwhile: that is told already.
      if (this.#view === view) throw error;
    }
  }

  /** The positions behind what was read. */
  #reached(): ReachedPositions {
    const of = (topic: ViewTopic) => [...this.#read.values()].filter((one) => one.topic === topic);
    return new Map(VIEW_TOPICS.map((topic) => [topic, new Map(of(topic).map((one) => [one.partition, one.position]))]));
  }

  /** What was gathered and not stored is read again. */
  #release(): void {
    this.#following.abort();
    this.#read.clear();
    this.#gathered = [];
  }

  #failed(error: unknown): void {
    if (error instanceof ViewUnsound || error instanceof TopicRecreated) {
      this.#discard(error);
      return;
    }
    if (error instanceof ViewEnded) this.#leave();
    const why = whyLagging(error);
    if (this.#stopping.signal.aborted || this.#lagging === why) return;
    this.#lagging = why;
    this.#parts.logger.warn({ err: error, why }, 'the deliveries view lags behind; retrying');
  }

  #discard(error: Error): void {
    this.#parts.logger.warn({ err: error }, 'rebuilding the deliveries view from its topics');
    const view = this.#view;
    this.#leave();
    if (view) this.#discarding = view.discard().catch((failure: unknown) => this.#failed(failure));
  }

  #leave(): void {
    this.#view = null;
    this.#ends = null;
    this.#release();
  }
}

function isOfView(error: unknown): error is Error {
  return [ViewUnsound, ViewRefused, ViewEnded].some((kind) => error instanceof kind);
}

function whyLagging(error: unknown): string {
  if (error instanceof BrokerUnavailable) return 'the broker is unavailable';
  return error instanceof ViewEnded ? 'its thread has ended' : 'its file is not writable';
}

/** The ends that both topics have now: to have passed them is to have what the topics had. @throws BrokerUnavailable */
export async function viewEnds(
  broker: Pick<Broker, 'extent'>,
  topics: { readonly [Of in ViewTopic]: string },
): Promise<ViewEnds> {
  return new Map(await Promise.all(VIEW_TOPICS.map(async (of) => [of, await broker.extent(topics[of])] as const)));
}

/** @throws ViewUnsound, ViewRefused, ViewEnded */
async function hasPassed(view: Pick<DeliveriesView, 'positions'>, ends: ViewEnds): Promise<boolean> {
  for (const [topic, partitions] of ends) {
    const positions = await view.positions(topic);
    // Of an empty partition there may be no position.
    for (const [of, { first, next }] of partitions) {
      if (first !== next && (positions.get(of)?.offset ?? 0) < next) return false;
    }
  }
  return true;
}
