/**
 * The public keys of another issuer, fetched at the start and periodically from then on.
 *
 * Cached keys verify tokens throughout an outage of the issuer (no response in time, or no key set). Then a timer, never a
 * request, retries: no request waits for an issuer that hangs, and none burdens a failing one. While the issuer responds, a token
 * that no cached key verifies triggers a fetch, because issuers replace their keys; but not each such token: anyone can forge them.
 */
import type { Logger } from '../observability/logger.js';
import { KeysUnavailable } from './access-tokens.js';
import { fetchKeySet, type KeySet } from './fetch-key-set.js';

export interface KeyPace {
  readonly answerWithinMs: number;
  /** From one answer to the next fetch, while the issuer answers; until then a withdrawn key of the issuer is accepted. */
  readonly refreshMs: number;
  /** The pause after a failed fetch, which may have cost the issuer and us as much as one can. */
  readonly retryMs: number;
  /** Tokens that no key verifies trigger at most one fetch within this time. */
  readonly cooldownMs: number;
}

const PACE: KeyPace = { answerWithinMs: 5_000, refreshMs: 600_000, retryMs: 10_000, cooldownMs: 10_000 };

export interface IssuerKeysOptions {
  readonly url: string;
  readonly logger: Logger;
  /** ms, monotonic */
  readonly now: () => number;
  readonly pace?: Partial<KeyPace>;
}

export class IssuerKeys {
  readonly #options: IssuerKeysOptions;
  readonly #pace: KeyPace;
  /** Null: they were never fetched. */
  #keys: KeySet | null = null;
  #askedForNewerAt = Number.NEGATIVE_INFINITY;
  /** The cause of an outage; null while the issuer answers, and before the first fetch. */
  #why: string | null = null;
  #retriesAt = 0;
  #asking: Promise<void> | null = null;
  readonly #closing = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: IssuerKeysOptions) {
    this.#options = options;
    this.#pace = { ...PACE, ...options.pace };
  }

  /** Fetches now, and then periodically. Returns at once. */
  start(): void {
    void this.#ask();
  }

  get areInHand(): boolean {
    return this.#keys !== null;
  }

  get whyNot(): string | null {
    if (this.#why !== null) return `the issuer's keys (AUTH_JWKS_URL) can't be fetched: ${this.#why}`;
    return this.#keys ? null : "the issuer's keys are being fetched for the first time";
  }

  /** As fetched last; the first call fetches them. @throws KeysUnavailable */
  async current(): Promise<KeySet> {
    if (!this.#keys && this.#why === null) await this.#ask();
    if (!this.#keys) throw this.#unavailable();
    return this.#keys;
  }

  /**
   * The keys to try again with a token that the current keys do not verify; null if those were fetched only just now.
   * @throws KeysUnavailable during an outage: the issuer may have a newer key
   */
  async newer(): Promise<KeySet | null> {
    const mayAsk = this.#why === null && (this.#asking !== null || this.#mayAskForNewer());
    if (mayAsk) await this.#ask();
    if (this.#why !== null) throw this.#unavailable();
    return mayAsk ? this.#keys : null;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    clearTimeout(this.#timer);
    await this.#asking;
  }

  #mayAskForNewer(): boolean {
    const now = this.#options.now();
    if (now - this.#askedForNewerAt < this.#pace.cooldownMs) return false;
    this.#askedForNewerAt = now;
    return true;
  }

  #unavailable(): KeysUnavailable {
    const inMs = this.#retriesAt - this.#options.now();
    return new KeysUnavailable(Math.max(1, Math.ceil(inMs / 1_000)));
  }

  /** Never rejects; #why has the result. Concurrent callers share one fetch. */
  #ask(): Promise<void> {
    this.#asking ??= this.#askOnce().finally(() => {
      this.#asking = null;
    });
    return this.#asking;
  }

  async #askOnce(): Promise<void> {
    clearTimeout(this.#timer);
    const why = await this.#fetch();
    if (this.#closing.signal.aborted) return;
    this.#tell(why);
    this.#why = why;
    const pauseMs = why === null ? this.#pace.refreshMs : this.#pace.retryMs;
    this.#retriesAt = this.#options.now() + pauseMs;
    this.#timer = setTimeout(() => void this.#ask(), pauseMs);
  }

  /** Why it failed; null on success. */
  async #fetch(): Promise<string | null> {
    const { answerWithinMs } = this.#pace;
    const late = AbortSignal.timeout(answerWithinMs);
    try {
      this.#keys = await fetchKeySet(this.#options.url, AbortSignal.any([late, this.#closing.signal]));
      return null;
    } catch (error) {
      return late.aborted ? `no answer within ${answerWithinMs} ms` : (error as Error).message;
    }
  }

  /** One log line when an outage begins, one when it ends. */
  #tell(why: string | null): void {
    const { logger } = this.#options;
    if (why !== null && this.#why === null) {
      const inHand = this.#keys ? 'the known keys stay in use' : 'requests get 503';
      logger.warn({ why }, `the keys of AUTH_JWKS_URL can't be fetched: ${inHand}; retrying`);
    }
    if (why === null && this.#why !== null) logger.info('the keys of AUTH_JWKS_URL can be fetched again');
  }
}
