/** A queue that takes turns between users: each user's items in order, and one item of each user before the next of any. */
export class RoundRobin<T> {
  /** In the order of their turns. */
  readonly #users = new Map<string, T[]>();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  lengthFor(user: string): number {
    return this.#users.get(user)?.length ?? 0;
  }

  add(user: string, item: T): void {
    const items = this.#users.get(user);
    if (items) items.push(item);
    else this.#users.set(user, [item]);
    this.#length += 1;
  }

  /** Removes and returns the next item, of the users who may have one. */
  next(mayHave: (user: string) => boolean = () => true): T | undefined {
    for (const [user, items] of this.#users) {
      if (!mayHave(user)) continue;
      const item = items.shift();
      this.#users.delete(user);
      if (items.length > 0) this.#users.set(user, items);
      this.#length -= 1;
      return item;
    }
    return undefined;
  }

  remove(user: string, item: T): void {
    const items = this.#users.get(user) ?? [];
    const index = items.indexOf(item);
    if (index === -1) return;
    items.splice(index, 1);
    this.#length -= 1;
    if (items.length === 0) this.#users.delete(user);
  }
}
