/**
 * What the parts tell of themselves for /metrics, and what is looked at when somebody asks. They see these, and nothing of
 * how it is exposed. No label grows with accounts, URLs or webhooks; docs/operations.md has the whole list.
 */

export const DELIVERY_OUTCOMES = ['delivered', 'retrying', 'put-off', 'exhausted', 'cancelled'] as const;
/** retrying: an attempt failed, and there will be another. put-off: none was made, it waits in a tier uncounted. */
export type DeliveryOutcome = (typeof DELIVERY_OUTCOMES)[number];

export const PUT_OFF_REASONS = ['line-full', 'breaker-open', 'stopping', 'not-prepared'] as const;
/** not-prepared: the fault is ours, keys or store. */
export type PutOffReason = (typeof PUT_OFF_REASONS)[number];

/** But for `unreadable`, which an operator's command writes. */
export const DEAD_LETTER_REASONS = [
  'not-valid',
  'exhausted',
  'deactivated',
  'other-history',
  'account-unreadable',
] as const;
export type CountedReason = (typeof DEAD_LETTER_REASONS)[number];

/** Called for every delivery: cheap, and never throws. */
export interface DeliveryMetrics {
  /** An attempt that says something of its endpoint: `error` is a failure code, null where a response came in full. */
  attempted(attempt: { status: number | null; error: string | null; durationMs: number }): void;
  /** A connection to an endpoint was made. */
  connected(): void;
  /** What a step of a delivery came to. */
  came(to: DeliveryOutcome, eventType: string): void;
  putOff(why: PutOffReason): void;
  /** The first 2xx. @param ms since the payment's record was published @param waited whether it ever was in a tier */
  delivered(ms: number, waited: boolean): void;
  deadLetter(reason: CountedReason): void;
}

export interface Route {
  readonly method: string;
  /** The template, /api/webhooks/{id}. */
  readonly path: string;
}

export interface HttpMetrics {
  /** @param route one object for each; null where none matched */
  answered(route: Route | null, status: number, ms: number): void;
}

export interface StoreMetrics {
  /** Another append to the stream came first. */
  appendConflict(stream: string): void;
  appendFailed(): void;
  publishFailed(): void;
  /** From stored to folded here, for the events of this process's own commands. */
  folded(ms: number): void;
}

export interface ConsumerSample {
  /** Records that were begun and are not done, and the bytes of their values. */
  readonly inHand: number;
  readonly inHandBytes: number;
  readonly partitions: readonly PartitionSample[];
}

export interface PartitionSample {
  readonly topic: string;
  readonly partition: number;
  /** Records that are published and not done. */
  readonly behind: number;
  /** The first that waits; null where none is here. */
  readonly head: { readonly publishedAt: number; readonly overdueMs: number } | null;
  /** What can't be read and stops it; null where nothing does. */
  readonly unreadable: object | null;
}

export interface GateSample {
  readonly waiting: number;
  readonly waitingBytes: number;
  readonly active: number;
  readonly breakersOpen: number;
  /** Records wait in their topics, since the process has no time left. */
  readonly intakeHeld: boolean;
}

export interface ProjectionSample {
  /** ms since it last had folded all that the store has; 0 while it follows. */
  readonly behindMs: number;
  readonly events: number;
}

/** What is looked at when somebody asks, and not before. */
export interface Watch {
  consumer(name: string, sample: () => ConsumerSample | null): void;
  /** @param tierOf the delay of a tier's topic, as the schedule writes it */
  tiers(sample: () => ConsumerSample | null, tierOf: (topic: string) => string): void;
  gate(sample: () => GateSample): void;
  projection(name: string, sample: () => ProjectionSample): void;
  /** @param count of those that are set aside */
  unreadableAccounts(count: () => number): void;
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
  /** What /metrics answers with. */
  text(): Promise<string>;
  close(): void;
}
