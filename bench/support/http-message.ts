/**
 * Cuts HTTP/1.1 messages out of a stream of bytes, by Content-Length alone. The sides of a benchmark that are not measured
 * use it in place of a real parser: they must never be what is waited for.
 */
const HEAD_END = '\r\n\r\n';
const CONTENT_LENGTH = /\r\ncontent-length: *(\d+)/i;

export class MessageCutter {
  readonly #onMessage: (head: string, body: Buffer) => void;
  #rest: Buffer | null = null;

  constructor(onMessage: (head: string, body: Buffer) => void) {
    this.#onMessage = onMessage;
  }

  add(chunk: Buffer): void {
    let bytes = this.#rest ? Buffer.concat([this.#rest, chunk]) : chunk;
    for (let end = this.#cut(bytes); end > 0; end = this.#cut(bytes)) bytes = bytes.subarray(end);
    this.#rest = bytes.length > 0 ? bytes : null;
  }

  /** Where the first message ends; 0 while it is not complete. */
  #cut(bytes: Buffer): number {
    const headEnd = bytes.indexOf(HEAD_END);
    if (headEnd < 0) return 0;
    const head = bytes.toString('latin1', 0, headEnd);
    const begin = headEnd + HEAD_END.length;
    const end = begin + Number(CONTENT_LENGTH.exec(head)?.[1] ?? 0);
    if (bytes.length < end) return 0;
    this.#onMessage(head, bytes.subarray(begin, end));
    return end;
  }
}
