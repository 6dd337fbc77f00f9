/**
 * The first bytes of the answer to a failed attempt, as they were sent: a content coding is not undone. What is no UTF-8
 * becomes U+FFFD; a last character that is incomplete is left out.
 */
import { beginDeadline } from './deadline.js';

const MOST_BYTES = 1024;
/** Of the attempt's own time, after the head: a receiver that sends its body slowly does not delay the result for longer. */
const WITHIN_MS = 1_000;

export class AnswerStart {
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #isComplete = false;
  #completed: (() => void) | undefined;

  add(chunk: Buffer): void {
    if (this.#isComplete) return;
    const kept = chunk.subarray(0, MOST_BYTES - this.#bytes);
    this.#chunks.push(kept);
    this.#bytes += kept.length;
    if (this.#bytes === MOST_BYTES) this.end();
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
      const endDeadline = beginDeadline(WITHIN_MS, resolve);
      this.#completed = () => {
        endDeadline();
        resolve();
      };
    });
  }
}
