import type { Dispatcher } from 'undici';
import type { EndpointAgent, EndpointRequest } from '../../endpoints/endpoint-agent.js';
import type { Phase } from '../../endpoints/failure.js';
import type { ReceivedLimit } from '../../endpoints/received-limit.js';
import { type Decided, isSuccess } from './classification.js';

/** Bytes read of a response body. */
const MAX_RESPONSE_BYTES = 64 * 1024;
/** How long a body may take after the head: a receiver that sends it slowly does not delay the result for longer. */
const BODY_MS = 1_000;

/**
 * One request and its response, as undici's dispatch reports them. Neither follows redirects nor decodes content. The body
 * is read after the exchange is decided: to keep the connection, and for the start of the answer.
 *
 *   connecting -> sent -> decided (a status line) -> over (the connection is free or closed)
 *       ^           |\---> decided and over          (failed, or cancelled)
 *       \-----------/                                (once: its kept-alive connection had ended, or its session was resumed)
 *
 * A server may close a kept-alive connection just as a request is sent on it, or reset one whose session was resumed. That
 * says nothing about the endpoint, so the request is resent immediately, with the same webhook-id and deadline, and not on
 * another that was idle: a server that stops closes all of them. Our optimizations cost no attempt.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  /** Never rejects. */
  readonly decided: Promise<Decided>;
  /** performance.now() */
  readonly begunAt = performance.now();
  /** Null before the head, and of a 2xx whose answer is not kept. */
  answer: AnswerStart | null = null;
  /** Its abort cancels the exchange. */
  readonly signal: AbortSignal;
  readonly #agent: EndpointAgent;
  readonly #request: EndpointRequest;
  readonly #keepsAnswer: boolean;
  #resolve: (decided: Decided) => void = () => {};
  #decision: Decided | null = null;
  #isOver = false;
  #onOver: (() => void) | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #answered = false;
  #bytes = 0;
  /** Undefined during dispatch only; the request may start in it. */
  #received: ReceivedLimit | undefined;

  /** @param keepsAnswer of a 2xx too */
  constructor(
    agent: EndpointAgent,
    request: EndpointRequest,
    { signal, keepsAnswer = false }: { readonly signal: AbortSignal; readonly keepsAnswer?: boolean | undefined },
  ) {
    this.#agent = agent;
    this.#request = request;
    this.signal = signal;
    this.#keepsAnswer = keepsAnswer;
    this.decided = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  send(): this {
    this.#dispatch(this.#request);
    return this;
  }

  #dispatch(request: EndpointRequest): void {
    this.#controller = undefined;
    this.#received = undefined;
    this.#received = this.#agent.dispatch(request, this);
    // On an idle connection the request starts during dispatch.
    if (this.#controller) this.#received.start.begin();
  }

  /** Ends the exchange now and closes its connection. No effect after the end. */
  cancel(reason: 'timeout' | 'interrupted'): void {
    this.#fail({ kind: 'cancelled', phase: this.#phase, reason });
    this.#controller?.abort(new Error(reason));
    this.#end();
  }

  /**
   * Fulfilled when a decided exchange is over; null if it is, as usual. Its body only keeps the connection, so the
   * connection is closed if it takes long.
   */
  rest(): Promise<void> | null {
    if (this.#isOver) return null;
    const timer = setTimeout(() => this.cancel('timeout'), BODY_MS);
    return new Promise((resolve) => {
      this.#onOver = () => {
        clearTimeout(timer);
        // The agent has the connection back one turn later, by an immediate of undici that this one must follow. Else the
        // next attempt would make a connection of its own.
        queueMicrotask(() => setImmediate(resolve));
      };
    });
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
    if (this.#keepsAnswer || !isSuccess(status)) this.answer = new AnswerStart();
    const given = headers['retry-after'];
    const retryAfter = Array.isArray(given) ? given[0] : given;
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
    if (this.#isOfReuse) {
      // The session is to blame only if the connection was new.
      const session = this.#received?.isReused ? 'skip' : 'avoid';
      this.#dispatch({ ...this.#request, onNewConnection: true, session });
      return;
    }
    const began = this.#received?.start.text ?? '';
    this.#fail({ kind: 'failed', phase: this.#phase, began, error });
    this.#end();
  }

  /** Once: it is sent again on a new connection without a session. Whoever sent a byte may have taken the request. */
  get #isOfReuse(): boolean {
    const received = this.#received;
    if (this.#answered || this.#decision || !received) return false;
    return (received.isReused || received.isResumed) && received.start.text === '';
  }

  get #phase(): Phase {
    if (this.#controller) return 'waiting-for-headers';
    return this.#received?.connecting ?? 'connecting';
  }

  get #status(): number | null {
    return this.#received?.start.status ?? null;
  }

  /** A status line decides, even if the rest failed. */
  #fail(failure: Decided): void {
    if (this.#decision) return;
    const status = this.#status;
    this.#decide(status === null ? failure : { kind: 'response', status, retryAfter: null });
  }

  #decide(decided: Decided): void {
    this.#decision = decided;
    this.#resolve(decided);
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.answer?.end();
    this.#onOver?.();
  }
}

const MAX_ANSWER_BYTES = 1024;

/**
 * The first bytes of an answer, as they were sent: a content coding is not undone. What is no UTF-8
 * becomes U+FFFD; a last character that is incomplete is left out.
 */
class AnswerStart {
  #bytes = Buffer.alloc(0);
  /** No more bytes will come, or none are wanted. */
  end: () => void = () => undefined;
  readonly #isComplete = new Promise<void>((resolve) => {
    this.end = resolve;
  });

  add(chunk: Buffer): void {
    if (this.#bytes.length === MAX_ANSWER_BYTES) return;
    this.#bytes = Buffer.concat([this.#bytes, chunk]).subarray(0, MAX_ANSWER_BYTES);
    if (this.#bytes.length === MAX_ANSWER_BYTES) this.end();
  }

  /** Undefined if there is no body. */
  async text(): Promise<string | undefined> {
    await this.#isComplete;
    if (this.#bytes.length === 0) return undefined;
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(this.#bytes, { stream: true });
  }
}
