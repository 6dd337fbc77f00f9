/**
 * Remembers the newest keys of each account, up to a total. When that is reached, the accounts with the most keys lose their
 * oldest, until 90 % of the total are left: an account with at most an equal share of these 90 % loses none, whatever the
 * others add. With more accounts than these 90 %, the accounts that added a key last have one each. Keys do not expire, so an
 * account counts from its first key on.
 */

/** Part of the total that is left when it was reached, so that this is rare. */
const KEPT = 0.9;

export class RecentByAccount {
  readonly #max: number;
  /** By account, in the order in which they were added; the account that added one last is last. */
  readonly #keys = new Map<number, Set<string>>();
  #size = 0;

  constructor(max: number) {
    this.#max = max;
  }

  has(accountId: number, key: string): boolean {
    return this.#keys.get(accountId)?.has(key) === true;
  }

  add(accountId: number, key: string): void {
    const own = this.#keys.get(accountId) ?? new Set();
    if (own.has(key)) return;
    this.#keys.delete(accountId);
    this.#keys.set(accountId, own.add(key));
    this.#size += 1;
    if (this.#size >= this.#max) this.#trim(Math.floor(KEPT * this.#max));
  }

  #trim(kept: number): void {
    const limit = Math.max(1, this.#fairLimit(kept));
    let surplus = this.#keys.size - kept;
    for (const [accountId, own] of this.#keys) {
      const left = surplus > 0 ? 0 : limit;
      surplus -= 1;
      const dropped = [...own].slice(0, Math.max(0, own.size - left));
      for (const key of dropped) own.delete(key);
      this.#size -= dropped.length;
      if (own.size === 0) this.#keys.delete(accountId);
    }
  }

  /** The keys that each account may have, so that all have `kept` together; 0 if there are more accounts than that. */
  #fairLimit(kept: number): number {
    const sizes = [...this.#keys.values()].map(({ size }) => size).sort((a, b) => a - b);
    let left = kept;
    for (const [index, size] of sizes.entries()) {
      const share = Math.floor(left / (sizes.length - index));
      if (size > share) return share;
      left -= size;
    }
    return kept;
  }
}
