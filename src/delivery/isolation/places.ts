/**
 * Limits concurrent attempts. An attempt holds its place for its first second (QUICK_MS) only: a URL that hangs costs one
 * second of one place. Older attempts count against limits of their own, and are never cut short.
 *
 *   failing  3/8   none while 2,048 attempts are older, or 8 of its account
 *   fresh    4/8   while that many are older: 1/8
 *   proven   6/8   7/8 where its account has less than its share
 *   swift    7/8   8/8 where its account has few under way: an account's endpoints may all hang at once
 *
 * A failure of an endpoint that is not proven costs its place for the whole second, however soon it came: a connection and a
 * TLS handshake are a few milliseconds of this process, and those that fail at once would take all of its time.
 *
 * So many of all places may be held when one begins; failing and fresh share theirs. Endpoints that answer slowly, each just
 * in time, can't take the places of those that answer at once, however many accounts they are.
 *
 * swift, proven: the last attempt got a 2xx within QUICK_MS. fresh: not tried before, or last answered by 2xx. kept: fresh,
 * and its account is at its limit of older attempts.
 */
export type Queue = 'swift' | 'proven' | 'fresh' | 'kept' | 'failing';

export const QUEUES: readonly Queue[] = ['swift', 'proven', 'fresh', 'kept', 'failing'];

/** At so many older attempts of one account, its failing endpoints begin none. */
export const MOST_OLD_PER_ACCOUNT = 8;
const MOST_OLD = 2_048;
/** Three active webhooks per event type: one payment starts up to three attempts. */
const FEW = 3;

export class Places {
  readonly #total: number;
  readonly #unproven: number;
  readonly #fresh: number;
  readonly #held: Record<Queue, number> = { swift: 0, proven: 0, fresh: 0, kept: 0, failing: 0 };
  #old = 0;

  constructor(total: number) {
    this.#total = total;
    this.#unproven = total - Math.floor(total / 2);
    this.#fresh = Math.floor(total / 8);
  }

  /** Attempts in a place. */
  get held(): number {
    const { swift, proven, fresh, kept, failing } = this.#held;
    return swift + proven + fresh + kept + failing;
  }

  /** @param accounts how many are here. @param underWay the attempts of the account that would begin one */
  isFreeFor(queue: Queue, underWay: number, accounts: number): boolean {
    const { held } = this;
    if (held >= this.#total) return false;
    const { fresh, kept, failing } = this.#held;
    const mayBeUnproven = fresh + kept + failing < this.#unproven;
    const isKeptFree = fresh + kept < Math.max(1, this.#fresh);
    const share = this.#total / accounts;
    switch (queue) {
      case 'swift':
        return underWay < Math.max(FEW, share / 4) || held < Math.ceil((7 / 8) * this.#total);
      case 'proven':
        return held < Math.ceil(((underWay < Math.max(1, share) ? 7 : 6) / 8) * this.#total);
      case 'fresh':
        return mayBeUnproven && (this.#old < MOST_OLD || isKeptFree);
      case 'kept':
        return mayBeUnproven && isKeptFree;
      case 'failing':
        return mayBeUnproven && this.#old < MOST_OLD && failing < this.#unproven - this.#fresh;
      default:
        return queue satisfies never;
    }
  }

  /** Whether a failure keeps its place for the whole second. Not where all share a single place. */
  coolsDown(queue: Queue): boolean {
    return queue !== 'swift' && queue !== 'proven' && this.#unproven < this.#total;
  }

  take(queue: Queue): void {
    this.#held[queue] += 1;
  }

  growOld(queue: Queue): void {
    this.#held[queue] -= 1;
    this.#old += 1;
  }

  leave(queue: Queue, isOld: boolean): void {
    if (isOld) this.#old -= 1;
    else this.#held[queue] -= 1;
  }
}
