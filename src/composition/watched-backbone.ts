/** Wraps store and broker for the other parts: counts their refusals, and records whether the broker answers. */

import type { StoreMetrics } from '../observability/metrics.js';
import { type Broker, BrokerRefused, BrokerUnavailable, type NewRecord, RecordRefused } from '../ports/broker.js';
import { type EventStore, type NewEvent, StoreUnavailable, WrongExpectedRevision } from '../ports/event-store.js';
import type { Backbone } from './backbone.js';

/** Why the broker is unreachable, according to the latest call; null: the broker accepted the latest call. */
export interface BrokerContact {
  why: string | null;
  /** By topic, why it refused a record, or us, the last time: its settings, or our rights on it, are in the way. */
  readonly refusals: Map<string, { readonly why: string; readonly at: number }>;
}

/** Smaller records may pass meanwhile. A publisher that is refused repeats within seconds, a dead letter within 30 s. */
const REFUSAL_COUNTS_MS = 60_000;

/** Null: no topic refused a record within the last minute. @param now on the monotonic clock */
export function refusalsText({ refusals }: BrokerContact, now: number): string | null {
  const lately = [...refusals.values()].filter(({ at }) => now - at < REFUSAL_COUNTS_MS);
  return lately.map(({ why }) => why).join('; ') || null;
}

export function watchedBackbone(backbone: Backbone, metrics: StoreMetrics, contact: BrokerContact): Backbone {
  const store = watchedStore(backbone.store, metrics);
  return { ...backbone, store, broker: watchedBroker(backbone.broker, metrics, contact) };
}

function watchedStore(store: EventStore, metrics: StoreMetrics): EventStore {
  return {
    async append(stream: string, events: readonly NewEvent[], expectedRevision: number) {
      try {
        return await store.append(stream, events, expectedRevision);
      } catch (error) {
        if (error instanceof WrongExpectedRevision) metrics.appendConflict(stream);
        else if (error instanceof StoreUnavailable) metrics.appendFailed();
        throw error;
      }
    },
    read: (stream, fromRevision) => store.read(stream, fromRevision),
    subscribe: (options) => store.subscribe(options),
    endsWith: (stream, revision, id) => store.endsWith(stream, revision, id),
    head: () => store.head(),
    isAtOrAfter: (position, head) => store.isAtOrAfter(position, head),
    close: () => store.close(),
  };
}

function watchedBroker(broker: Broker, metrics: StoreMetrics, contact: BrokerContact): Broker {
  return {
    async publish(topic: string, records: readonly NewRecord[]) {
      try {
        await broker.publish(topic, records);
        contact.why = null;
      } catch (error) {
        if (error instanceof BrokerUnavailable) contact.why = error.message;
        if (error instanceof BrokerRefused || error instanceof RecordRefused)
          contact.refusals.set(topic, { why: error.message, at: performance.now() });
        if (error instanceof BrokerUnavailable || error instanceof RecordRefused) metrics.publishFailed();
        throw error;
      }
    },
    consume: (options) => broker.consume(options),
    follow: (topic, positions, options) => broker.follow(topic, positions, options),
    read: (topic, partition, offset) => broker.read(topic, partition, offset),
    committed: (group, topic) => broker.committed(group, topic),
    extent: (topic) => broker.extent(topic),
    listTopics: () => broker.listTopics(),
    ensureTopics: (topics) => broker.ensureTopics(topics),
    close: () => broker.close(),
  };
}
