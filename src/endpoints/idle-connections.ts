/** The idle connections of all origins, up to a limit: beyond it, the account with the most of them loses its oldest. */
export interface IdleConnection {
  readonly origin: string;
  /** The account whose request used it last. */
  readonly accountId: number;
  /** performance.now() */
  readonly freeSince: number;
}

export class IdleConnections<Connection extends IdleConnection> {
  readonly #limit: number;
  /**
   * The oldest first: the latest is used again, so that the others reach their time limit. A list stays while its
   * connections are in use: a Map or Set of 1,000 that loses and gains an entry each time took 3.6 us, these take 0.02.
   */
  readonly #byOrigin = new Map<string, Connection[]>();
  #count = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get origins(): number {
    return this.#byOrigin.size;
  }

  to(origin: string): number {
    return this.#byOrigin.get(origin)?.length ?? 0;
  }

  take(origin: string): Connection | undefined {
    const connection = this.#byOrigin.get(origin)?.pop();
    if (connection) this.#count -= 1;
    return connection;
  }

  /** @returns the one to close, if there are too many now */
  add(connection: Connection): Connection | null {
    const { origin } = connection;
    const known = this.#byOrigin.get(origin);
    if (known) known.push(connection);
    else this.#byOrigin.set(origin, [connection]);
    this.#count += 1;
    if (this.#count <= this.#limit) return null;
    const surplus = this.#surplus();
    if (surplus) this.delete(surplus);
    return surplus;
  }

  /** A connection has closed, idle or in use. */
  delete(connection: Connection): void {
    const known = this.#byOrigin.get(connection.origin) ?? [];
    const index = known.indexOf(connection);
    if (index !== -1) {
      known.splice(index, 1);
      this.#count -= 1;
    }
    if (known.length === 0) this.#byOrigin.delete(connection.origin);
  }

  /** Looks at all of them, but only for a connection that has just cost a handshake. */
  #surplus(): Connection | null {
    const all = [...this.#byOrigin.values()].flat();
    const counts = new Map<number, number>();
    for (const { accountId } of all) counts.set(accountId, (counts.get(accountId) ?? 0) + 1);
    const most = Math.max(...counts.values());
    let oldest: Connection | null = null;
    for (const connection of all) {
      const isOlder = oldest === null || connection.freeSince < oldest.freeSince;
      if (isOlder && counts.get(connection.accountId) === most) oldest = connection;
    }
    return oldest;
  }
}
