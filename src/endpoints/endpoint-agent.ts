// Not of 'undici', which loads caches, mocks, and fetch as well: 0.08 s of the processor a start, before dist was a bundle.
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import { type ConnectorOptions, GuardedConnector } from './guarded-connector.js';

const MAX_RESPONSE_HEADER_BYTES = 16 * 1024;
const KEEP_ALIVE_MAX_MS = 30_000;

export interface AgentOptions extends ConnectorOptions {
  /** How long an idle connection is kept at the longest, whatever the receiver's Keep-Alive asks for; 30 s without it. */
  readonly keepAliveMaxMs?: number;
}

/**
 * The HTTP client of deliveries: a pool of keep-alive connections an origin, without a cap (the endpoint gate has
 * one), opened by the guarded connector. Pools that are idle go away. It has no time limits but the connector's:
 * whoever sends a request puts a deadline over the whole of it.
 *
 * Hazard: undici 7's own Agent counts connections by origin, over pools that it has closed already. Where all end while
 * requests wait, each closed pool closes the next, and every request makes a connection: 500 deliveries a second where these
 * pools make 4,400. Mended in undici 8 (nodejs/undici#5034), which needs Node 22.
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

  /** That it has connections to, or makes some. */
  get origins(): readonly string[] {
    return [...this.#pools.keys()];
  }

  /**
   * Whether the error ended a connection that was made before `time` (performance.now()), one that had been kept
   * alive. It may be that the server had let go of it already and never saw the request.
   */
  endedOlderConnection(error: Error, time: number): boolean {
    const connectedAt = this.#connector.connectedAt(error);
    return connectedAt !== undefined && connectedAt < time;
  }

  /** Ends every connection, those that are only being made too: undici would wait for these. */
  override async destroy(): Promise<void> {
    this.#isDestroyed = true;
    this.#connector.destroy();
    await Promise.all([...this.#pools.values()].map((pool) => pool.destroy()));
  }

  #open(origin: string): Pool {
    const pool = new Pool(origin, this.#options);
    const closeIfUnused = () => {
      const { connected, size } = pool.stats;
      // One that closes tells of its last connections when there is another pool of its origin already.
      if (connected > 0 || size > 0 || pool.closed || pool.destroyed) return;
      this.#pools.delete(origin);
      void pool.close();
    };
    pool.on('disconnect', closeIfUnused).on('connectionError', closeIfUnused);
    this.#pools.set(origin, pool);
    // It is the pool that tells those who come too late.
    if (this.#isDestroyed) void pool.destroy();
    return pool;
  }
}

export function createEndpointAgent(options: AgentOptions): EndpointAgent {
  return new EndpointAgent(options);
}
