/**
 * A status line that ends later is not seen: informational heads of 32 KiB may come before it (received-limit.ts). Held only
 * while a head is awaited; FINAL takes 60 us for as much.
 */
const MOST_CHARACTERS = 34 * 1_024;
/** Informational responses, without 101, after which no other follows. */
const INFORMATIONAL = /(?:[\r\n]*HTTP\/1\.[01] 1(?!01)\d\d[^\r\n]*\r?\n(?:[^\r\n]+\r?\n)*\r?\n)*/;
/** RFC 9112, section 4, with any version and line end: a server's reason phrase and line ends do not matter. */
const STATUS_LINE = /[\r\n]*HTTP\/\d(?:\.\d)? +(101|[2-9]\d\d)(?: [^\r\n]*)?\r?\n/;
const STATUS_END = 'HTTP/1.1 100'.length;
const ONE = 0x31;
const FINAL = new RegExp(`^${INFORMATIONAL.source}${STATUS_LINE.source}`);

/**
 * The beginning of a response on one connection, read beside undici's parser: undici reports a status only with its
 * complete, valid headers, and gives up on 101.
 */
export class ResponseStart {
  #isAwaited = false;
  /** What was read before #chunk. */
  #text = '';
  /** The latest chunk. Decoded on demand only, which is rare. */
  #chunk: Buffer | null = null;

  /** A request is being written. Only bytes read from now on can answer it. */
  begin(): void {
    this.#isAwaited = true;
    this.#forget();
  }

  /** The parser has the head, or the connection is being closed. */
  stop(): void {
    this.#isAwaited = false;
    this.#forget();
  }

  /** Latin-1. */
  get text(): string {
    const room = MOST_CHARACTERS - this.#text.length;
    if (this.#chunk === null || room <= 0) return this.#text;
    return this.#text + this.#chunk.toString('latin1', 0, room);
  }

  /** Null before a complete status line of a final response, or of 101. */
  get status(): number | null {
    const [, status] = FINAL.exec(this.text) ?? [];
    return status === undefined ? null : Number(status);
  }

  /** Call for each chunk that is read, before the parser has it. */
  came(chunk: Buffer): void {
    if (!this.#isAwaited) return;
    this.#text = this.text;
    this.#chunk = chunk;
    if (this.#text === '' && chunk[STATUS_END - 3] === ONE) hideContinue(chunk);
  }

  #forget(): void {
    this.#text = '';
    this.#chunk = null;
  }
}

/**
 * A client ignores a 100 Continue that it did not ask for (RFC 9110, section 15.2), but undici closes the connection. So
 * one that begins a response becomes 102, which undici reports.
 */
function hideContinue(chunk: Buffer): void {
  if (/^HTTP\/1\.[01] 100$/.test(chunk.toString('latin1', 0, STATUS_END))) chunk.write('2', STATUS_END - 1);
}
