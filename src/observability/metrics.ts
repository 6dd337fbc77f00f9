/**
 * The interfaces through which the parts report to /metrics, and the values sampled on each scrape. The parts see only
 * these, not the exposition. No label grows with accounts, URLs or webhooks; docs/operations.md has the whole list.
 */

export const DELIVERY_STEPS = ['delivered', 'retrying', 'parked', 'exhausted', 'cancelled'] as const;
/** retrying: an attempt failed, and another will follow. parked: moved to a tier without an attempt, uncounted. */
export type DeliveryStep = (typeof DELIVERY_STEPS)[number];

export const DEFER_REASONS = [
  'queue',
  'endpoint-failing',
  'endpoint-paused',
  'stopping',
  'stalled',
  'not-prepared',
] as const;
/** stalled: this process stood still during the attempt. not-prepared: our own fault, in keys or store. */
export type DeferReason = (typeof DEFER_REASONS)[number];

export const DEAD_LETTER_REASONS = [
  'not-valid',
  'exhausted',
  'deactivated',
  'other-history',
  'account-unreadable',
  'unreadable-batch',
] as const;
export type CountedReason = (typeof DEAD_LETTER_REASONS)[number];

/** Called for every delivery: cheap, and never throws. */
export interface DeliveryMetrics {
  /**
   * An attempt whose result says something about its endpoint: `error` is a failure code, null after a complete
   * response.
   */
  attempted(attempt: { status: number | null; error: string | null; durationMs: number }): void;
  /** A connection to an endpoint was established. */
  connected(): void;
  /** The outcome of a delivery step. */
  came(to: DeliveryStep, eventType: string): void;
  parked(why: DeferReason): void;
  /**
   * The first 2xx. @param ms since the payment's record was published @param waited whether the delivery was ever in a
   * tier
   */
  delivered(ms: number, waited: boolean): void;
  deadLetter(reason: CountedReason): void;
  /** A record ended because a later request of its delivery came: no step of the delivery. */
  superseded(eventType: string): void;
}

export interface Route {
  readonly method: string;
  /** The route's template, /api/webhooks/{id}. */
  readonly path: string;
}

export interface HttpMetrics {
  /** @param route one object per route; null if none matched */
  answered(route: Route | null, status: number, ms: number): void;
}

export interface StoreMetrics {
  /** Another append to the stream came first. */
  appendConflict(stream: string): void;
  appendFailed(): void;
  publishFailed(): void;
  /** From storage to folding here, for the events of this process's own commands. */
  folded(ms: number): void;
}

export interface ConsumerSample {
  /** Records in progress, and the bytes that they hold. */
  readonly inHand: number;
  readonly inHandBytes: number;
  readonly partitions: readonly PartitionSample[];
}

export interface PartitionSample {
  readonly topic: string;
  readonly partition: number;
  /** Published records that are not done. */
  readonly behind: number;
  /** The first waiting record, its time null if it has none; null if there is none. */
  readonly head: { readonly publishedAt: number | null; readonly overdueMs: number } | null;
  /** Where the partition waits; null if it does not. */
  readonly unreadable: object | null;
}

export interface GateSample {
  readonly waiting: number;
  readonly waitingBytes: number;
  readonly active: number;
  readonly breakersOpen: number;
  /** Back-pressure: records stay in their topics because the process has no time left. */
  readonly intakeHeld: boolean;
}

interface ProjectionSample {
  /** ms since the projection was last up to date with the store; 0 while it keeps up. */
  readonly behindMs: number;
  readonly events: number;
}

/** Values sampled only on a scrape. */
export interface Watch {
  consumer(name: string, sample: () => ConsumerSample | null): void;
  /** @param tierOf the delay of a tier's topic, as the schedule writes it */
  tiers(sample: () => ConsumerSample | null, tierOf: (topic: string) => string): void;
  /** By tier, its waiting records if this process does not read it; else 0. */
  unreadTiers(sample: () => readonly (readonly [tier: string, records: number])[]): void;
  gate(sample: () => GateSample): void;
  projection(name: string, sample: () => ProjectionSample): void;
  /** @param count number of accounts set aside */
  unreadableAccounts(count: () => number): void;
  /** @param ms for how long the oldest routed payment has waited for its confirmation; 0 if none waits */
  unconfirmed(ms: () => number): void;
  /** @param parts whether each part is ready */
  readiness(parts: () => readonly { readonly part: string; readonly ready: boolean }[]): void;
}

export interface Metrics {
  readonly delivery: DeliveryMetrics;
  readonly http: HttpMetrics;
  readonly store: StoreMetrics;
  readonly watch: Watch;
}

export interface ExposedMetrics extends Metrics {
  readonly contentType: string;
  text(): Promise<string>;
  close(): void;
}
