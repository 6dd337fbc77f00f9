import { Agent } from 'undici';
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
 */
export class EndpointAgent extends Agent {
  readonly #connector: GuardedConnector;

  constructor({ keepAliveMaxMs = KEEP_ALIVE_MAX_MS, ...options }: AgentOptions) {
    const connector = new GuardedConnector(options);
    super({
      connect: connector.connect,
      pipelining: 1,
      keepAliveMaxTimeout: keepAliveMaxMs,
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: MAX_RESPONSE_HEADER_BYTES,
    });
    this.#connector = connector;
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
  override destroy(callback: () => void): void;
  override destroy(error: Error | null, callback: () => void): void;
  override destroy(error?: Error | null): Promise<void>;
  override destroy(...args: unknown[]): unknown {
    this.#connector.destroy();
    return Reflect.apply(super.destroy, this, args);
  }
}

export function createEndpointAgent(options: AgentOptions): EndpointAgent {
  return new EndpointAgent(options);
}
