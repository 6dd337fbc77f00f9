// Not from 'undici', which also loads caches, mocks and fetch: 0.08 s of CPU time per start, before dist was a bundle.
import type { Dispatcher } from 'undici';
import Client from 'undici/lib/dispatcher/client.js';
import type { NoticedError } from './failure.js';
import { type ConnectorOptions, GuardedConnector, type SessionUse } from './guarded-connector.js';
import { type IdleConnection, IdleConnections } from './idle-connections.js';
import { TurnLength } from './idle-socket.js';
import { NEVER_REACHED_BYTES, ReceivedLimit } from './received-limit.js';

const CHECK_MS = 100;
const KEEP_ALIVE_MS = 60_000;
const MOST_IDLE = 1_000;
/** Then address and certificate are checked again: a receiver may have moved. */
const MOST_AGE_MS = 600_000;
/** Idle connections are kept for longer: those that a burst left end together, and none takes their place. */
const SHORTLY_MS = 1_000;

export interface AgentOptions extends ConnectorOptions {
  /** How long an idle connection is kept, unless the receiver's Keep-Alive says less. Default: 60 s. */
  readonly keepAliveMs?: number;
  /** Idle connections, of all accounts together. Default: 1,000. */
  readonly mostIdle?: number;
  /** A connection is not used again after this time. Default: 10 min. */
  readonly mostAgeMs?: number;
  /** Called with account and URL of a request with which a connection ended, or shortly after which: the next one needs another. */
  readonly disconnected?: (accountId: number, url: string) => void;
  /** Of the event loop. Default: as measured. */
  readonly turns?: Pick<TurnLength, 'areLong'>;
  /** A connection is idle, and its last request was this one's. */
  readonly freed?: (accountId: number, url: string) => void;
}

export interface EndpointRequest extends Dispatcher.DispatchOptions {
  readonly accountId: number;
  readonly url: string;
  /** It waited for its slot: on an idle connection it also waits for undici's look, however long a turn takes. */
  readonly hasWaited?: boolean | undefined;
  /** Not on a connection that was idle. */
  readonly onNewConnection?: boolean;
  /** On a new connection. Default: offer. */
  readonly session?: SessionUse;
}

/** A client of undici, for one socket. */
interface Connection extends IdleConnection {
  readonly client: Client;
  readonly limit: ReceivedLimit;
  readonly session: SessionUse;
  /** performance.now() */
  readonly openedAt: number;
  accountId: number;
  url: string;
  /** Infinite while it is in use. */
  freeSince: number;
}

/**
 * The HTTP client of deliveries: keep-alive connections, opened by the guarded connector and without a cap (the endpoint
 * gate has one) but for idle ones. The only time limits are the connector's: callers must set a deadline for
 * the whole request.
 *
 *   connecting -> busy -> idle -> busy ...
 *       \-----------\-------\---> closed
 *
 * Not undici's pools: they say neither which connections are idle nor whose they are.
 */
export class EndpointAgent {
  readonly #connector: GuardedConnector;
  readonly #options: Omit<Client.Options, 'connect'>;
  readonly #connections = new Set<Connection>();
  readonly #idle: IdleConnections<Connection>;
  readonly #mostAgeMs: number;
  readonly #disconnected: (accountId: number, url: string) => void;
  readonly #freedFrom: (accountId: number, url: string) => void;
  /** While there are connections. */
  #checks: NodeJS.Timeout | undefined;
  readonly #turns: Pick<TurnLength, 'areLong'>;
  #isDestroyed = false;

  constructor(options: AgentOptions) {
    const { keepAliveMs = KEEP_ALIVE_MS, mostIdle = MOST_IDLE } = options;
    this.#mostAgeMs = options.mostAgeMs ?? MOST_AGE_MS;
    this.#turns = options.turns ?? new TurnLength();
    this.#connector = new GuardedConnector(options);
    this.#idle = new IdleConnections(mostIdle);
    this.#disconnected = options.disconnected ?? (() => undefined);
    this.#freedFrom = options.freed ?? (() => undefined);
    this.#options = {
      pipelining: 1,
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: keepAliveMs,
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: NEVER_REACHED_BYTES,
    };
  }

  /** @returns the limit of what comes, to be told of each head */
  dispatch(request: EndpointRequest, handler: Dispatcher.DispatchHandler): ReceivedLimit {
    const origin = String(request.origin);
    const connection =
      (request.onNewConnection ? null : this.#takeIdle(origin, request)) ?? this.#open(origin, request.session);
    connection.accountId = request.accountId;
    connection.url = request.url;
    connection.freeSince = Number.POSITIVE_INFINITY;
    connection.limit.begin();
    connection.client.dispatch(request, handler);
    return connection.limit;
  }

  /** Idle connections to the URL's origin: so many requests at once need no handshake. */
  idleTo(url: string): number {
    return this.#idle.to(originOf(url));
  }

  /** Connections, established or in progress. */
  get connections(): number {
    return this.#connections.size;
  }

  /** Ends every connection, including those in progress: undici would wait for these. */
  async destroy(): Promise<void> {
    this.#isDestroyed = true;
    this.#connector.destroy();
    await Promise.all([...this.#connections].map(({ client }) => client.destroy()));
    // undici does not tell the end of those that were connecting.
    this.#connections.clear();
    clearInterval(this.#checks);
  }

  #takeIdle(origin: string, { hasWaited }: EndpointRequest): Connection | undefined {
    // Otherwise undici looks itself, after a turn.
    const isNow = this.#turns.areLong() && !hasWaited;
    for (let one = this.#idle.take(origin); one; one = this.#idle.take(origin)) {
      if (!isNow || one.limit.mayBeReusedNow()) return one;
      // As if the receiver's end of it had been read.
      void one.client.destroy(Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' }));
    }
    return undefined;
  }

  #open(origin: string, session: SessionUse = 'offer'): Connection {
    const limit = new ReceivedLimit();
    const client = new Client(origin, {
      ...this.#options,
      connect: (target, callback) => this.#connector.connect(target, connection, callback),
    });
    const connection: Connection = {
      origin,
      client,
      limit,
      session,
      openedAt: performance.now(),
      freeSince: Number.POSITIVE_INFINITY,
      accountId: 0,
      url: '',
    };
    const closed = (_: URL, __: readonly unknown[], error: NoticedError) => this.#closed(connection, error);
    client.on('drain', () => this.#freed(connection)).on('connectionError', closed);
    client.on('disconnect', (_, __, error: NoticedError) => {
      // Destroyed: by this agent, because it was too many.
      const isShortly = performance.now() - connection.freeSince < SHORTLY_MS && error.code !== 'UND_ERR_DESTROYED';
      if (isShortly) this.#disconnected(connection.accountId, connection.url);
      this.#closed(connection, error);
    });
    if (this.#isDestroyed) {
      // It rejects the late request.
      void client.destroy();
      return connection;
    }
    this.#connections.add(connection);
    this.#checks ??= setInterval(() => {
      for (const { limit } of this.#connections) limit.checkTcp();
    }, CHECK_MS).unref();
    return connection;
  }

  /** Emitted one turn of the event loop after the response, and after the end of a connection too. */
  #freed(connection: Connection): void {
    if (!this.#connections.has(connection)) return;
    const { limit, openedAt, client, accountId, url } = connection;
    connection.freeSince = performance.now();
    if (limit.hasUnsent || connection.freeSince - openedAt > this.#mostAgeMs) void client.destroy();
    else {
      void this.#idle.add(connection)?.client.destroy();
      this.#freedFrom(accountId, url);
    }
  }

  /**
   * Hazard: undici would connect again, for a request that came meanwhile, but also for one that was aborted: a second
   * handshake for each attempt that timed out. So a request that came meanwhile fails with the connection.
   */
  #closed(connection: Connection, error: NoticedError): void {
    this.#connections.delete(connection);
    this.#idle.delete(connection);
    void connection.client.destroy(error);
    if (this.#connections.size > 0) return;
    clearInterval(this.#checks);
    this.#checks = undefined;
  }
}

/** Of a normalized http or https URL. URL takes 1 us, and it is asked several times for each delivery. */
function originOf(url: string): string {
  const end = url.indexOf('/', 'https://'.length);
  return end === -1 ? url : url.slice(0, end);
}
