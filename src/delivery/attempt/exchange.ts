import type { Dispatcher } from 'undici';
import type { EndpointAgent, EndpointRequest } from '../../endpoints/endpoint-agent.js';
import type { ReceivedLimit } from '../../endpoints/received-limit.js';

/** Bytes read of a response body. The content does not matter. */
const MAX_RESPONSE_BYTES = 64 * 1024;

export type CancelReason = 'timeout' | 'interrupted';

/**
 * How an exchange ended. `response`: complete, because the body ended or MAX_RESPONSE_BYTES of it were read. `status`
 * of the other kinds: the status of a response that had begun. `answered`: whether anything came back, even a 1xx.
 * `connected`: whether the request had a connection.
 */
export type Ended =
  | { readonly kind: 'response'; readonly status: number; readonly retryAfter: string | null }
  | {
      readonly kind: 'failed';
      readonly status: number | null;
      readonly answered: boolean;
      readonly connected: boolean;
      readonly error: Error;
    }
  | {
      readonly kind: 'cancelled';
      readonly status: number | null;
      readonly connected: boolean;
      readonly reason: CancelReason;
    };

interface ResponseHead {
  readonly status: number;
  readonly retryAfter: string | null;
}

/** One request and its response, as undici's dispatch reports them. Neither follows redirects nor decodes content. */
export class Exchange implements Dispatcher.DispatchHandler {
  /** Never rejects. */
  readonly ended: Promise<Ended>;
  #resolve: (ended: Ended) => void = () => {};
  #isOver = false;
  #controller: Dispatcher.DispatchController | undefined;
  #head: ResponseHead | undefined;
  #answered = false;
  #bytes = 0;
  readonly #received: ReceivedLimit;

  constructor(agent: EndpointAgent, request: EndpointRequest) {
    this.ended = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.#received = agent.dispatch(request, this);
  }

  /** Ends the exchange now and closes its connection. No effect after the end. */
  cancel(reason: CancelReason): void {
    const connected = this.#controller !== undefined;
    this.#end({ kind: 'cancelled', status: this.#head?.status ?? null, connected, reason });
    this.#controller?.abort(new Error(reason));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // Cancelled while connecting: undici can't be told before the connection exists.
    if (this.#isOver) controller.abort(new Error('cancelled'));
  }

  onResponseStart(
    { rawHeaders }: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, unknown>,
  ): void {
    this.#answered = true;
    if (status < 200) {
      this.#received.informational(Array.isArray(rawHeaders) ? rawHeaders : []);
      return;
    }
    this.#received.headCame();
    const [retryAfter] = [headers['retry-after']].flat();
    this.#head = { status, retryAfter: typeof retryAfter === 'string' ? retryAfter : null };
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes < MAX_RESPONSE_BYTES) return;
    this.#complete();
    controller.abort(new Error('enough read'));
  }

  onResponseEnd(): void {
    this.#complete();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    const connected = this.#controller !== undefined;
    this.#end({ kind: 'failed', status: this.#head?.status ?? null, answered: this.#answered, connected, error });
  }

  #complete(): void {
    if (this.#head !== undefined) this.#end({ kind: 'response', ...this.#head });
  }

  #end(ended: Ended): void {
    this.#isOver = true;
    this.#resolve(ended);
  }
}
