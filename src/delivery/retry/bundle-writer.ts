/**
 * Writes bundles. Deferrals of one endpoint that wait for the same time share a record if they come within GATHER_MS: during a
 * burst or an outage thousands of deliveries are few records. Until its bundle is durable, no delivery counts as deferred.
 */
import type { NewRecord } from '../../ports/broker.js';
import { type DurablePublishParts, publishUntilDurable } from '../durable-publish.js';
import type { EndpointKey } from '../endpoint-key.js';
import { type BundleWait, bytesOf, MAX_BUNDLE_BYTES, MAX_MEMBERS, toBundle } from './bundle.js';

/** Commits are made every 250 ms. */
const GATHER_MS = 25;

export interface BundleWriterParts extends DurablePublishParts {
  /** Calls `flush` when members have been gathered for long enough; returns how to call that off. */
  readonly later?: (flush: () => void) => () => void;
}

export interface BundlePlace {
  readonly topic: string;
  readonly endpoint: EndpointKey;
  readonly wait: BundleWait;
  /** Kept apart from the others: what is urgent does not wait for them. */
  readonly isUrgent: boolean;
}

class Batch {
  readonly members: NewRecord[] = [];
  readonly durable: Promise<void>;
  bytes = 0;
  settle!: (published: Promise<void>) => void;
  callOff: () => void = () => undefined;

  constructor(readonly place: BundlePlace) {
    this.durable = new Promise((settle) => {
      this.settle = settle;
    });
  }
}

export class BundleWriter {
  readonly #parts: BundleWriterParts;
  readonly #batches = new Map<string, Batch>();

  constructor(parts: BundleWriterParts) {
    this.#parts = parts;
  }

  /** Immediately, and alone. Fulfilled when it is durable; rejected if the service abandons its work. */
  write({ topic, endpoint, wait }: BundlePlace, member: NewRecord): Promise<void> {
    return publishUntilDurable(this.#parts, topic, toBundle(endpoint, [member], wait));
  }

  /** With others for the same place, in the order of the calls. Fulfilled and rejected as `write`. */
  gather(place: BundlePlace, member: NewRecord): Promise<void> {
    const { topic, endpoint, wait, isUrgent } = place;
    const key = `${topic} ${wait.due} ${wait.moreMs} ${isUrgent} ${endpoint}`;
    const bytes = bytesOf(member);
    const full = this.#batches.get(key);
    if (full && full.bytes + bytes > MAX_BUNDLE_BYTES) this.#flush(key, full);
    const batch = this.#batches.get(key) ?? this.#begin(key, place);
    batch.members.push(member);
    batch.bytes += bytes;
    if (batch.members.length >= MAX_MEMBERS) this.#flush(key, batch);
    return batch.durable;
  }

  #begin(key: string, place: BundlePlace): Batch {
    const batch = new Batch(place);
    this.#batches.set(key, batch);
    batch.callOff = (this.#parts.later ?? afterGathering)(() => this.#flush(key, batch));
    return batch;
  }

  #flush(key: string, { place, members, settle, callOff }: Batch): void {
    callOff();
    this.#batches.delete(key);
    settle(publishUntilDurable(this.#parts, place.topic, toBundle(place.endpoint, members, place.wait)));
  }
}

function afterGathering(flush: () => void): () => void {
  const timer = setTimeout(flush, GATHER_MS);
  return () => clearTimeout(timer);
}
