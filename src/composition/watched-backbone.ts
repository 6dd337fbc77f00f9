/** Counts what store and broker refuse, and records whether the broker answers. */
import type { StoreMetrics } from '../observability/metrics.js';
import { BrokerRefused, BrokerUnavailable, RecordRefused } from '../ports/broker.js';
import { StoreUnavailable } from '../ports/event-store.js';
import type { Backbone } from './backbone.js';

/** `why` the broker was unreachable for the latest publish; null: a publish or a read has succeeded since. */
export interface BrokerContact {
  why: string | null;
  /** By topic, why it refused a record, or us, the last time: its settings, or our rights on it, are in the way. */
  readonly refusals: Map<string, { readonly why: string; readonly at: number }>;
}

/** Smaller records may pass meanwhile. What is refused repeats within seconds. */
const REFUSAL_COUNTS_MS = 60_000;

/** Null: no topic refused a record within the last minute. @param now on the monotonic clock */
export function refusalsText({ refusals }: BrokerContact, now: number): string | null {
  const lately = [...refusals.values()].filter(({ at }) => now - at < REFUSAL_COUNTS_MS);
  return lately.map(({ why }) => why).join('; ') || null;
}

/** From now on, in the calls themselves: of store and broker only failed appends and publishes are counted. */
export function watchBackbone({ store, broker }: Backbone, metrics: StoreMetrics, contact: BrokerContact): void {
  const append = store.append.bind(store);
  const publish = broker.publish.bind(broker);
  const read = broker.read.bind(broker);
  store.append = async (stream, events, expectedRevision) => {
    try {
      return await append(stream, events, expectedRevision);
    } catch (error) {
      if (error instanceof StoreUnavailable) metrics.appendFailed();
      throw error;
    }
  };
  broker.publish = async (topic, records) => {
    try {
      const offsets = await publish(topic, records);
      contact.why = null;
      return offsets;
    } catch (error) {
      if (error instanceof BrokerUnavailable) contact.why = error.message;
      if (error instanceof BrokerRefused || error instanceof RecordRefused)
        contact.refusals.set(topic, { why: error.message, at: performance.now() });
      if (error instanceof BrokerUnavailable || error instanceof RecordRefused) metrics.publishFailed();
      throw error;
    }
  };
  // A process that rarely publishes would report the fault of its last publish long after the broker has recovered.
  broker.read = async (topic, partition, offset) => {
    const record = await read(topic, partition, offset);
    contact.why = null;
    return record;
  };
}
