/**
 * Publishes the notices of the account history to their topic, in the one process of the installation whose dispatcher has
 * partition 0 of the topic. It follows the event store from the position in the newest record of the topic, so a crash between
 * an event and its notice loses none; a notice that the topic already has is skipped. If nothing happens that accounts are
 * notified of, it records its position once an hour: a start reads at most that much of the history. Without any record, at
 * the first start of an installation, it begins at the head of the store.
 *
 *   not chosen -> chosen: reads the topic, then follows the store -> not chosen, or failed: asks again a second later
 */
import type { Logger } from '../../observability/logger.js';
import { type Broker, NO_TIME } from '../../ports/broker.js';
import type { WebhookHealth } from '../../ports/deliveries-view.js';
import { type EventStore, OtherHistory, type RecordedEvent } from '../../ports/event-store.js';
import { topicRecords } from '../../ports/topic-records.js';
import { AccountUnreadable } from '../../read-model/account-unreadable.js';
import type { Accounts } from '../../read-model/accounts.js';
import { retry } from '../../time/retry.js';
import { ACCOUNT_STREAM_PREFIX } from '../../webhooks/events.js';
import { noticeRecord, noticesOf, positionRecord, publishedNotice, toldAt } from './notice.js';

const LOOK_AGAIN_MS = 1_000;
/** Nobody wants to be told later. Also bounds what a topic that has lost its notices leads to. */
const TOLD_WITHIN_MS = 86_400_000;
const POSITION_INTERVAL_MS = 3_600_000;

export interface NoticeWriterParts {
  readonly broker: Pick<Broker, 'extent' | 'follow' | 'publish'>;
  readonly store: Pick<EventStore, 'head' | 'subscribe'>;
  readonly accounts: Pick<Accounts, 'webhooksNow'>;
  /** Null while there is no view. */
  readonly health: (accountId: number) => Promise<ReadonlyMap<number, WebhookHealth> | null>;
  readonly topic: string;
  readonly isChosen: () => boolean;
  readonly logger: Logger;
  /** ms since the epoch */
  readonly now: () => number;
  /** Monotonic, in ms. */
  readonly elapsed: () => number;
}

export class NoticeWriter {
  readonly #parts: NoticeWriterParts;
  readonly #stopping = new AbortController();
  #running: Promise<void> | null = null;

  constructor(parts: NoticeWriterParts) {
    this.#parts = parts;
  }

  /** Returns at once; waits for the broker and the store in the background. */
  start(): void {
    const { signal } = this.#stopping;
    const failed = (err: unknown) => this.#parts.logger.warn({ err }, 'notices are late; retrying');
    this.#running = retry(() => this.#follow(), { signal, failed });
  }

  /** Fulfilled when it has published its last notice. */
  async close(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  /** Fulfilled when another process is chosen. */
  async #follow(): Promise<void> {
    const { isChosen } = this.#parts;
    if (!isChosen()) return;
    const ending = new AbortController();
    const look = setInterval(() => {
      if (!isChosen()) ending.abort();
    }, LOOK_AGAIN_MS);
    const signal = AbortSignal.any([ending.signal, this.#stopping.signal]);
    try {
      const { ids, position } = await this.#published();
      await this.#after(position ?? (await this.#atHead()), ids, signal).catch((error: unknown) => {
        if (error instanceof OtherHistory && position !== null) return this.#after(null, ids, signal);
        throw error;
      });
    } finally {
      clearInterval(look);
    }
  }

  /** Ids: those of the last day. Everything up to the position is published; null: unknown. */
  async #published() {
    const { broker, topic, now } = this.#parts;
    const since = now() - TOLD_WITHIN_MS;
    const ids = new Set<string>();
    let newest = NO_TIME;
    let position: string | null = null;
    for await (const record of topicRecords(broker, topic)) {
      const published = publishedNotice(record);
      if (!published) continue;
      if (record.timestamp >= since && published.id !== null) ids.add(published.id);
      // Of one writer after the other: before the position of any record everything is published.
      if (record.timestamp < newest) continue;
      newest = record.timestamp;
      position = published.position;
    }
    return { ids, position };
  }

  /** Recorded before anything is followed: another start before the first notice begins there too. */
  async #atHead(): Promise<string> {
    const { broker, store, topic } = this.#parts;
    const head = await store.head();
    await broker.publish(topic, [positionRecord(head)]);
    return head;
  }

  async #after(after: string | null, published: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    const { broker, store, topic, elapsed } = this.#parts;
    const subscription = { after, streamPrefix: ACCOUNT_STREAM_PREFIX, signal };
    let recordedAt = elapsed();
    for await (const { events, position } of store.subscribe(subscription)) {
      for (const event of events) {
        if (signal.aborted) return;
        await this.#publish(event, published);
      }
      if (elapsed() - recordedAt < POSITION_INTERVAL_MS) continue;
      await broker.publish(topic, [positionRecord(position)]);
      recordedAt = elapsed();
    }
  }

  async #publish(event: RecordedEvent, published: ReadonlySet<string>): Promise<void> {
    const { broker, topic, accounts, health, now, logger } = this.#parts;
    const at = toldAt(event);
    if (at === null || at < now() - TOLD_WITHIN_MS) return;
    const accountId = Number(event.stream.slice(ACCOUNT_STREAM_PREFIX.length));
    try {
      const account = await accounts.webhooksNow(accountId);
      const notices = account ? noticesOf(event, account, await health(accountId)) : [];
      const records = notices.filter(({ id }) => !published.has(id)).map((one) => noticeRecord(one, event.position));
      if (records.length > 0) await broker.publish(topic, records);
    } catch (error) {
      if (!(error instanceof AccountUnreadable)) throw error;
      logger.warn({ accountId }, 'the account can not be read: it is not told about its webhooks');
    }
  }
}
