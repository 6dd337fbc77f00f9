/** The idle connections of all origins, up to a limit: beyond it, the account with the most of them loses its oldest. */
export interface IdleConnection {
  readonly origin: string;
  /** The account whose request used it last. */
  readonly accountId: number;
}

export class IdleConnections<Connection extends IdleConnection> {
  readonly #limit: number;
  /** The oldest first. */
  readonly #all = new Set<Connection>();
  /** The oldest first: the latest is used again, so that the others reach their time limit. */
  readonly #byOrigin = new Map<string, Connection[]>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  take(origin: string): Connection | undefined {
    const known = this.#byOrigin.get(origin);
    const connection = known?.pop();
    if (known?.length === 0) this.#byOrigin.delete(origin);
    if (connection) this.#all.delete(connection);
    return connection;
  }

  /** @returns the one to close, if there are too many now */
  add(connection: Connection): Connection | null {
    this.#all.add(connection);
    const { origin } = connection;
    const known = this.#byOrigin.get(origin);
    if (known) known.push(connection);
    else this.#byOrigin.set(origin, [connection]);
    if (this.#all.size <= this.#limit) return null;
    const surplus = this.#oldestOf(this.#largestAccount());
    if (surplus) this.delete(surplus);
    return surplus;
  }

  delete(connection: Connection): void {
    if (!this.#all.delete(connection)) return;
    const { origin } = connection;
    const left = this.#byOrigin.get(origin)?.filter((each) => each !== connection) ?? [];
    if (left.length > 0) this.#byOrigin.set(origin, left);
    else this.#byOrigin.delete(origin);
  }

  /** Looks at all of them: 20 us for 1,000, and only for a connection that has just cost a handshake. */
  #largestAccount(): number | undefined {
    const counts = new Map<number, number>();
    let largest: number | undefined;
    for (const { accountId } of this.#all) {
      const count = (counts.get(accountId) ?? 0) + 1;
      counts.set(accountId, count);
      if (largest === undefined || count > (counts.get(largest) ?? 0)) largest = accountId;
    }
    return largest;
  }

  #oldestOf(accountId: number | undefined): Connection | null {
    for (const connection of this.#all) if (connection.accountId === accountId) return connection;
    return null;
  }
}
