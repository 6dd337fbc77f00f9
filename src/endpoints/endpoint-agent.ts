// Not from 'undici', which also loads caches, mocks and fetch: 0.08 s of CPU time per start, before dist was a bundle.
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import { type ConnectorOptions, GuardedConnector } from './guarded-connector.js';

const MAX_RESPONSE_HEADER_BYTES = 16 * 1024;
const KEEP_ALIVE_MAX_MS = 30_000;

export interface AgentOptions extends ConnectorOptions {
  /** Upper limit for keeping an idle connection, whatever the receiver's Keep-Alive asks for. Default: 30 s. */
  readonly keepAliveMaxMs?: number;
}

/**
 * The HTTP client of deliveries: a pool of keep-alive connections per origin, opened by the guarded connector and
 * without a cap (the endpoint gate has one). Idle pools are dropped. The only time limits are the connector's: callers
 * must set a deadline for the whole request.
 *
 * Hazard: undici 7's own Agent counts connections by origin and includes closed pools. When all connections end while
 * requests wait, each closed pool closes the next, and every request opens a connection: 500 deliveries a second,
 * against 4,400 with these pools. Fixed in undici 8 (nodejs/undici#5034), which needs Node 22.
 */
export class EndpointAgent extends Dispatcher {
  readonly #connector: GuardedConnector;
  readonly #options: Pool.Options;
  readonly #pools = new Map<string, Pool>();
  #isDestroyed = false;

  constructor({ keepAliveMaxMs = KEEP_ALIVE_MAX_MS, ...options }: AgentOptions) {
    super();
    this.#connector = new GuardedConnector(options);
    this.#options = {
      connect: this.#connector.connect,
      pipelining: 1,
      keepAliveMaxTimeout: keepAliveMaxMs,
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: MAX_RESPONSE_HEADER_BYTES,
    };
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const origin = String(options.origin);
    const pool = this.#pools.get(origin) ?? this.#open(origin);
    return pool.dispatch(options, handler);
  }

  /** The origins with connections, established or in progress. */
  get origins(): readonly string[] {
    return [...this.#pools.keys()];
  }

  /**
   * Whether the error ended a kept-alive connection, one established before `time` (performance.now()). The server may
   * already have closed it without seeing the request.
   */
  endedOlderConnection(error: Error, time: number): boolean {
    const connectedAt = this.#connector.connectedAt(error);
    return connectedAt !== undefined && connectedAt < time;
  }

  /** Ends every connection, including those in progress: undici would wait for these. */
  override async destroy(): Promise<void> {
    this.#isDestroyed = true;
    this.#connector.destroy();
    await Promise.all([...this.#pools.values()].map((pool) => pool.destroy()));
  }

  #open(origin: string): Pool {
    const pool = new Pool(origin, this.#options);
    const closeIfUnused = () => {
      const { connected, size } = pool.stats;
      // A closing pool may report its last connections when its origin already has another pool.
      if (connected > 0 || size > 0 || pool.closed || pool.destroyed) return;
      this.#pools.delete(origin);
      void pool.close();
    };
    pool.on('disconnect', closeIfUnused).on('connectionError', closeIfUnused);
    this.#pools.set(origin, pool);
    // The destroyed pool rejects late requests.
    if (this.#isDestroyed) void pool.destroy();
    return pool;
  }
}

export function createEndpointAgent(options: AgentOptions): EndpointAgent {
  return new EndpointAgent(options);
}
