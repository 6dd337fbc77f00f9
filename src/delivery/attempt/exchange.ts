import type { Dispatcher } from 'undici';
import type { EndpointAgent, EndpointRequest } from '../../endpoints/endpoint-agent.js';
import type { Phase } from '../../endpoints/failure.js';
import type { ReceivedLimit } from '../../endpoints/received-limit.js';
import { type Decided, isSuccess } from './classification.js';
import { beginDeadline } from './deadline.js';

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
  cancel(reason: 'timeout' | 'interrupted'): void {
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

const MAX_ANSWER_BYTES = 1024;
/** After the head: a receiver that sends its body slowly does not delay the result for longer. */
const ANSWER_WITHIN_MS = 1_000;

/**
 * The first bytes of the answer to a failed attempt, as they were sent: a content coding is not undone. What is no UTF-8
 * becomes U+FFFD; a last character that is incomplete is left out.
 */
class AnswerStart {
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #isComplete = false;
  #completed: (() => void) | undefined;

  add(chunk: Buffer): void {
    if (this.#isComplete) return;
    const kept = chunk.subarray(0, MAX_ANSWER_BYTES - this.#bytes);
    this.#chunks.push(kept);
    this.#bytes += kept.length;
    if (this.#bytes === MAX_ANSWER_BYTES) this.end();
  }

  /** No more bytes will come. */
  end(): void {
    this.#isComplete = true;
    this.#completed?.();
  }

  /** Waits until it is complete, but not for long. Undefined if there is no body. */
  async text(): Promise<string | undefined> {
    if (!this.#isComplete) await this.#complete();
    if (this.#bytes === 0) return undefined;
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    return decoder.decode(Buffer.concat(this.#chunks), { stream: true });
  }

  #complete(): Promise<void> {
    return new Promise((resolve) => {
      const endDeadline = beginDeadline(ANSWER_WITHIN_MS, resolve);
      this.#completed = () => {
        endDeadline();
        resolve();
      };
    });
  }
}
