/**
 * Whose turn it is. Of the accounts that wait, the one with the fewest attempts under way, so that an account which has
 * many never keeps one waiting that has few; among equals, and among an account's own endpoints, each in turn.
 */

/** Of those that have more, each counts as having so many. */
const TOP = 63;

export interface Party {
  readonly underWay: number;
}

/** An endpoint that may start another attempt. */
export interface Candidate<P extends Party> {
  readonly account: P;
}

export class Turns<P extends Party, C extends Candidate<P>> {
  readonly #waiting = new Map<P, { level: number; readonly candidates: Set<C> }>();
  readonly #levels: Set<P>[] = Array.from({ length: TOP + 1 }, () => new Set());
  /** No level below it has an account. */
  #lowest = 0;

  /** To the end of its account's turns. */
  add(candidate: C): void {
    const { account } = candidate;
    const waiting = this.#waiting.get(account);
    if (waiting) return void waiting.candidates.add(candidate);
    const level = levelOf(account);
    this.#waiting.set(account, { level, candidates: new Set([candidate]) });
    this.#enter(account, level);
  }

  delete(candidate: C): void {
    const { account } = candidate;
    const waiting = this.#waiting.get(account);
    if (!waiting?.candidates.delete(candidate) || waiting.candidates.size > 0) return;
    this.#waiting.delete(account);
    this.#levels[waiting.level]?.delete(account);
  }

  /** The account has more attempts under way, or fewer. */
  moved(account: P): void {
    const waiting = this.#waiting.get(account);
    const level = levelOf(account);
    if (!waiting) return;
    this.#levels[waiting.level]?.delete(account);
    waiting.level = level;
    this.#enter(account, level);
  }

  /** Who is next stays here until it is deleted. */
  get next(): C | undefined {
    if (this.#waiting.size === 0) return undefined;
    for (; this.#lowest < TOP; this.#lowest += 1) if ((this.#levels[this.#lowest]?.size ?? 0) > 0) break;
    const [account] = this.#levels[this.#lowest] ?? [];
    const [candidate] = (account && this.#waiting.get(account)?.candidates) ?? [];
    return candidate;
  }

  #enter(account: P, level: number): void {
    this.#levels[level]?.add(account);
    this.#lowest = Math.min(this.#lowest, level);
  }
}

function levelOf({ underWay }: Party): number {
  return Math.min(underWay, TOP);
}
