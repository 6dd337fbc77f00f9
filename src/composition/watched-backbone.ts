/** Counts what store and broker refuse, and records whether the broker answers. */
import type { StoreMetrics } from '../observability/metrics.js';
import { BrokerRefused, BrokerUnavailable, RecordRefused } from '../ports/broker.js';
import { StoreUnavailable } from '../ports/event-store.js';
import type { Backbone } from './backbone.js';

/** `why` the broker was unreachable for the latest publish; null: a publish, a read or a followed page has succeeded since. */
export interface BrokerContact {
  why: string | null;
  /** How many publishes have found the broker unreachable. */
  failures: number;
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
      if (error instanceof BrokerUnavailable) {
        contact.why = error.message;
        contact.failures += 1;
      }
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

/**
 * For a process without a dispatcher, which reads nothing but the pages that its view follows: on Kafka one arrives each second.
 * A dispatcher repeats each publish until it succeeds, and pages would hide a broker that can be read and accepts no records.
 *
 * An adapter fetches a page of a partition once the reader has the previous one, so a page shows contact with the broker if no
 * publish has failed since the previous one. Others may have been fetched before the fault.
 *
 * So a fault is cleared within seconds only while the view is followed. And without a dispatcher, contact means that the broker
 * can be reached: one that can be read but accepts no records is ready again, although each publish over HTTP gets 503.
 */
export function watchFollowing({ broker }: Pick<Backbone, 'broker'>, contact: BrokerContact): void {
  const follow = broker.follow.bind(broker);
  broker.follow = async function* (topic, positions, options) {
    const failuresAtPage = new Map<number, number>();
    for await (const page of follow(topic, positions, options)) {
      if (failuresAtPage.get(page.partition) === contact.failures) contact.why = null;
      failuresAtPage.set(page.partition, contact.failures);
      yield page;
    }
  };
}
