/** What the judge asks of a scheduler of delivery attempts, and all that it gives it. */

/** What an attempt shows of its endpoint. refused: 429, or 503 with Retry-After. */
export type JudgedSignal = 'succeeded' | 'failed' | 'unreachable' | 'tls-failed' | 'refused' | 'unknown';

export interface JudgedEnd {
  readonly signal: JudgedSignal;
  readonly retryAfterMs?: number | null;
  /** The attempt made a new connection. */
  readonly hasConnected: boolean;
}

export interface JudgedAcquired {
  readonly kind: 'acquired';
  /** Its URL answered 2xx to something within the last minute. */
  readonly hasSucceededLately: boolean;
  ended(end: JudgedEnd): unknown;
  leave(): void;
}

export interface JudgedDeferred {
  readonly kind: 'deferred';
  readonly why: 'queue' | 'endpoint-failing' | 'endpoint-paused' | 'stopping';
  /** For how long its URL is paused; 0: it is not. */
  readonly pausedMs: number;
}

export interface JudgedScheduler {
  acquire(
    accountId: number,
    url: string,
    delivery: { readonly bytes: number; readonly awayMs?: number },
  ): Promise<JudgedAcquired | JudgedDeferred>;
  readonly state: {
    readonly active: number;
    readonly waiting: number;
    readonly waitingBytes: number;
    readonly breakersOpen: number;
  };
}

export interface JudgedParts {
  readonly slots: number;
  readonly perEndpoint: number;
  readonly clock: {
    readonly now: () => number;
    readonly after: (ms: number, passed: () => void) => () => void;
    readonly close: () => void;
  };
  readonly random: () => number;
  /** What a process can measure of its only thread. */
  readonly load: {
    /** How late the event loop is now. */
    readonly lateMs: () => number;
    /** For how long it was busy, in total. */
    readonly busyMs: () => number;
  };
}

export type MakeScheduler = (parts: JudgedParts) => JudgedScheduler;
