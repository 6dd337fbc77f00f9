import type { Dispatcher } from 'undici';
import type { EndpointAgent, EndpointRequest } from '../../endpoints/endpoint-agent.js';
import type { Phase } from '../../endpoints/failure.js';
import type { ReceivedLimit } from '../../endpoints/received-limit.js';
import { AnswerStart } from './answer-start.js';
import { type CancelReason, type Decided, isSuccess } from './classification.js';

/** Bytes read of a response body. */
const MAX_RESPONSE_BYTES = 64 * 1024;

/**
 * One request and its response, as undici's dispatch reports them. Neither follows redirects nor decodes content. The body
 * is read after the exchange is decided: to keep the connection, and for the start of the answer.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  /** Never rejects. */
  readonly decided: Promise<Decided>;
  /** Of a response that is not 2xx; null before its head. */
  answer: AnswerStart | null = null;
  #resolve: (decided: Decided) => void = () => {};
  #isDecided = false;
  #isOver = false;
  #over: (() => void) | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #answered = false;
  #bytes = 0;
  /** Undefined only during dispatch. */
  readonly #received: ReceivedLimit | undefined;

  constructor(agent: EndpointAgent, request: EndpointRequest) {
    this.decided = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.#received = agent.dispatch(request, this);
  }

  /** The connection is free or closed, or there will be none. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Calls back when the exchange is over; only before it is. */
  onceOver(callback: () => void): void {
    this.#over = callback;
  }

  /** Ends the exchange now and closes its connection. No effect after the end. */
  cancel(reason: CancelReason): void {
    this.#fail({ kind: 'cancelled', phase: this.#phase, reason });
    this.#controller?.abort(new Error(reason));
    this.#end();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // Cancelled while connecting: undici can't be told before the connection exists.
    if (this.#isOver) controller.abort(new Error('cancelled'));
    else this.#received?.start.begin();
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: Record<string, unknown>): void {
    this.#answered = true;
    if (status < 200 && status !== 101) {
      this.#received?.informational(Array.isArray(controller.rawHeaders) ? controller.rawHeaders : []);
      return;
    }
    this.#received?.headCame();
    if (!isSuccess(status)) this.answer = new AnswerStart();
    const [retryAfter] = [headers['retry-after']].flat();
    this.#decide({ kind: 'response', status, retryAfter: typeof retryAfter === 'string' ? retryAfter : null });
    // No HTTP follows.
    if (status === 101) controller.abort(new Error('switched protocols'));
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    this.answer?.add(chunk);
    if (this.#bytes >= MAX_RESPONSE_BYTES) controller.abort(new Error('enough read'));
  }

  onResponseEnd(): void {
    this.#end();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    const began = this.#received?.start.text ?? '';
    this.#fail({ kind: 'failed', phase: this.#phase, answered: this.#answered, began, error });
    this.#end();
  }

  get #phase(): Phase {
    if (this.#controller) return 'waiting-for-headers';
    return this.#received?.connecting ?? 'connecting';
  }

  /** A status line decides, even if the rest failed. */
  #fail(failure: Decided): void {
    if (this.#isDecided) return;
    const status = this.#received?.start.status ?? null;
    this.#decide(status === null ? failure : { kind: 'response', status, retryAfter: null });
  }

  #decide(decided: Decided): void {
    this.#isDecided = true;
    this.#resolve(decided);
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.answer?.end();
    this.#over?.();
  }
}
