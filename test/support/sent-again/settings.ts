/** What a world is made of. */
import { topicsOf } from '../../../src/delivery/topics.js';

/** Defects for the property to find. */
export type Planted =
  | 'asked-only-before-the-queue'
  | 'no-deferrals-in-the-identity'
  | 'one-maximum'
  | 'a-letter-replayed-once-only'
  | 'no-head-confirmation'
  | 'no-read-at-the-start'
  | 'no-ownership';

export interface WorldOptions {
  readonly seed: number;
  readonly planted?: Planted | undefined;
  /** Of the requests that a dispatcher remembers. */
  readonly mostRemembered?: number | undefined;
  /**
   * What happens more often. kills: of all dispatchers, while a cancelled record waits. freezes: of a recovery's owner. pauses: of
   * webhooks, when something was requested.
   */
  readonly bias?: 'kills' | 'freezes' | 'pauses' | undefined;
}

export const SCHEDULE = [
  { text: '3s', ms: 3_000 },
  { text: '10s', ms: 10_000 },
] as const;
export const TOPICS = topicsOf(['payments'], '');
const { retry, deferred } = TOPICS.tiers(SCHEDULE);
export const TIERS = [...retry, ...deferred];
export const TIMEOUT_MS = 4_000;
export const GROUPS = { payments: 'group', retries: 'group.retry' };
export const SESSION_MS = 3_000;

export interface Receiver {
  /** How many of its answers are 2xx, and 410. */
  readonly ok: number;
  readonly gone: number;
  readonly isSlow: boolean;
}
