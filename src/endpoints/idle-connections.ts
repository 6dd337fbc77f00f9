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
  readonly #atOnce: number;
  #count = 0;
  /** The next at the end. */
  #toClose: Candidate<Connection>[] = [];

  constructor(limit: number) {
    this.#limit = limit;
    this.#atOnce = Math.max(1, Math.ceil(limit / 20));
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

  /** Looks at all of them, but only once for so many, and only for a connection that has just cost a handshake. */
  #surplus(): Connection | null {
    const chosen = this.#nextToClose();
    if (chosen) return chosen;
    this.#toClose = this.#inOrderOfClosing().slice(0, this.#atOnce).reverse();
    return this.#nextToClose();
  }

  #nextToClose(): Connection | null {
    for (let next = this.#toClose.pop(); next; next = this.#toClose.pop()) {
      const { connection, freeSince } = next;
      const isIdle = this.#byOrigin.get(connection.origin)?.includes(connection);
      if (isIdle && connection.freeSince === freeSince) return connection;
    }
    return null;
  }

  /** As if each time the account with the most of them lost its oldest: by its place among its account's, from the newest on. */
  #inOrderOfClosing(): Candidate<Connection>[] {
    const all = [...this.#byOrigin.values()].flat().sort((one, other) => other.freeSince - one.freeSince);
    const counts = new Map<number, number>();
    const candidates = all.map((connection) => {
      const place = (counts.get(connection.accountId) ?? 0) + 1;
      counts.set(connection.accountId, place);
      return { connection, freeSince: connection.freeSince, place };
    });
    return candidates.sort((one, other) => other.place - one.place || one.freeSince - other.freeSince);
  }
}

interface Candidate<Connection> {
  readonly connection: Connection;
  /** It was used again if this differs. */
  readonly freeSince: number;
  readonly place: number;
}
