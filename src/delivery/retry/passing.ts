import type { NewRecord } from '../../ports/broker.js';
import type { Requests } from '../again/requests.js';
import { fromRetryRecord } from '../delivery.js';
import { type DurablePublishParts, publishUntilDurable } from '../durable-publish.js';
import type { Topics } from '../topics.js';
import { type Bundle, withMembers, withWait } from './bundle.js';
import { DEFERRALS, longestDelayMs, type Tier } from './retry-schedule.js';
import { waitFor } from './waiting.js';

export interface BundlePassingParts extends DurablePublishParts {
  readonly topics: Pick<Topics, 'tierOf'>;
  readonly requests: Pick<Requests, 'laterChain'>;
  readonly now: () => number;
}

/**
 * Passes bundles on as they are: those whose wait is not over with their tier, and those of an account that has too many to be
 * unpacked now. Their members have no step, no deferral and no entry; the time of a second turn in a tier is counted.
 */
export class BundlePassing {
  readonly #parts: BundlePassingParts;
  readonly #tiers: readonly Tier[];

  constructor(parts: BundlePassingParts, tiers: readonly Tier[]) {
    this.#parts = parts;
    this.#tiers = tiers;
  }

  /** @returns whether it waits on: then its record is done. Rejected if the service abandons its work. */
  async passOn(bundle: Bundle, hasRoom = true): Promise<boolean> {
    const { leftMs, addedMs } = this.#leftOf(bundle, hasRoom);
    if (leftMs <= 0) return false;
    const { tier, due, moreMs } = waitFor(this.#tiers, leftMs, this.#parts.now());
    // The record's time is new: a request that ends a member may be forgotten by the time this one is due.
    const left = bundle.members.map((member) => (member && this.#isSuperseded(member) ? null : member));
    if (left.every((member) => member === null)) return true;
    const next = withWait(withMembers(bundle.record, left), { due, moreMs, addedMs: addedMs || undefined });
    await publishUntilDurable(this.#parts, tier.topic, next);
    return true;
  }

  #leftOf({ record, wait }: Bundle, hasRoom: boolean) {
    const { due, moreMs, addedMs = 0 } = wait;
    // As a time that is left, not as one of the day: each tier takes some of it, whatever clocks say and records claim.
    const leftMs = moreMs - Math.max(0, this.#parts.now() - due);
    if (moreMs > 0 && leftMs > 0) return { leftMs: Math.min(leftMs, longestDelayMs(this.#tiers)), addedMs };
    if (hasRoom) return { leftMs: 0, addedMs };
    const { ms = 0 } = this.#parts.topics.tierOf(record.topic) ?? {};
    const againMs = Math.max(ms, DEFERRALS[0].ms);
    // Its members' own times were counted up to `due`.
    return { leftMs: againMs, addedMs: addedMs + againMs };
  }

  #isSuperseded(member: NewRecord): boolean {
    const delivery = fromRetryRecord(member);
    return delivery !== null && this.#parts.requests.laterChain(delivery) !== null;
  }
}
