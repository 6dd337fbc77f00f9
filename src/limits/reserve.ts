/**
 * The reserve of each user: calls that no other user can use up. Operations that remove or revoke something, or list what can be
 * revoked, draw on it when a limit would reject them (`usesReserve` of an operation). A request draws at most once: it then
 * passes every limit of its user and its account. So whoever exhausts them cannot stop other users from shutting them out. What
 * would harm other accounts has a limit for reserves too: bytes of responses (http/admission.ts), and bytes that are kept for an
 * account (webhooks/account-buckets.ts).
 */
import { TokenBuckets } from '../time/token-buckets.js';
import type { Owner, Requester } from './user-limits.js';

const WINDOW_MS = 60_000;
const RESERVED_PER_MINUTE = 60;

export class Reserve {
  readonly #buckets: TokenBuckets;

  /** @param now ms of a monotonic clock */
  constructor(now: () => number) {
    this.#buckets = new TokenBuckets({ holdsMs: WINDOW_MS, now });
  }

  requester(owner: Owner, user: string): ReservingRequester {
    const key = `${owner} ${user}`;
    return new ReservingRequester(owner, user, () => this.#buckets.take(key, WINDOW_MS / RESERVED_PER_MINUTE) <= 0);
  }
}

export class ReservingRequester implements Requester {
  #draw: (() => boolean) | null;
  #hasDrawn: boolean | undefined;

  constructor(
    readonly owner: Owner,
    readonly user: string,
    draw: () => boolean,
  ) {
    this.#draw = draw;
  }

  mayExceed(): boolean {
    if (this.#draw) this.#hasDrawn ??= this.#draw();
    return this.#draw !== null && this.#hasDrawn === true;
  }

  /** For a request whose body shows that it removes nothing. @returns whether it has exceeded a limit already */
  forgo(): boolean {
    this.#draw = null;
    return this.#hasDrawn === true;
  }
}
