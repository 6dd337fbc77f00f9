/**
 * The beginning of a response, read beside undici's parser: undici reports a status only with its complete, valid headers,
 * and gives up on `100 Continue` and `101`.
 */
/** The longest accepted status line. */
const MOST_CHARACTERS = 1_024;
/** More than received-limit.ts allows. */
const MOST_CONTINUES = 9;
/** RFC 9112, section 4, with any version and line end: a server's reason phrase and line ends do not matter. */
const STATUS_LINE = /^[\r\n]*HTTP\/\d(?:\.\d)? +(101|[2-9]\d\d)(?: [^\r\n]*)?\r?\n/;
const INFORMATIONAL = /^HTTP\/1\.[01] 1\d\d/;
const STATUS_END = 12;
const HEAD_END = '\r\n\r\n';
const TAIL = HEAD_END.length - 1;
const ONE = 0x31;
const TWO = 0x32;

/** Of one connection. */
export class ResponseStart {
  #isAwaited = false;
  /** What was read before #chunk. */
  #text = '';
  /** The last three characters read before #chunk: the end of a head may be in two chunks. */
  #tail = '';
  /** The latest chunk, and where the response begins or continues in it. Decoded on demand only, which is rare. */
  #chunk: Buffer | null = null;
  #from = 0;

  /** A request is being written. Only bytes read from now on can answer it. */
  begin(): void {
    this.#isAwaited = true;
    this.#restart(null, 0);
  }

  /** The parser has the head, or the connection is being closed. */
  stop(): void {
    this.#isAwaited = false;
    this.#restart(null, 0);
  }

  /** The parser has read an informational response: another response follows. */
  informational(): void {
    const chunk = this.#chunk;
    const end = chunk ? endOfHead(chunk, this.#from, this.#tail) : -1;
    if (chunk && end < chunk.length) this.#restart(chunk, end);
    else this.#restart(null, 0);
  }

  /** Latin-1. */
  get text(): string {
    const room = MOST_CHARACTERS - this.#text.length;
    if (this.#chunk === null || room <= 0) return this.#text;
    return this.#text + this.#chunk.toString('latin1', this.#from, this.#from + room);
  }

  /** Null before a complete status line of a final response, or of 101, after which no other response follows. */
  get status(): number | null {
    const [, status] = STATUS_LINE.exec(this.text) ?? [];
    return status === undefined ? null : Number(status);
  }

  /** Call for each chunk that is read, before the parser has it. */
  came(chunk: Buffer): void {
    if (!this.#isAwaited) return;
    if (this.#chunk !== null) {
      this.#text = this.text;
      const last = this.#chunk.toString('latin1', Math.max(this.#from, this.#chunk.length - TAIL));
      this.#tail = (this.#tail + last).slice(-TAIL);
    }
    this.#chunk = chunk;
    this.#from = 0;
    this.#renumberContinues(chunk);
  }

  /**
   * A client ignores a 100 Continue that it did not ask for (RFC 9110, section 15.2), but undici closes the connection. So
   * it becomes 102, which undici reports.
   */
  #renumberContinues(chunk: Buffer): void {
    const before = this.#text;
    if (before === '' && chunk[STATUS_END - 3] !== ONE) return;
    const isBegun = before.length >= STATUS_END;
    if (isBegun && !INFORMATIONAL.test(before)) return;
    let at = isBegun ? endOfHead(chunk, 0, this.#tail) : -before.length;
    for (let n = 0; n < MOST_CONTINUES && at < chunk.length; n += 1) {
      const start = (at < 0 ? before : '') + chunk.toString('latin1', Math.max(0, at), at + STATUS_END);
      if (!INFORMATIONAL.test(start)) return;
      if (start.endsWith('100')) chunk[at + STATUS_END - 1] = TWO;
      at = endOfHead(chunk, Math.max(0, at), '');
    }
  }

  #restart(chunk: Buffer | null, from: number): void {
    this.#text = '';
    this.#tail = '';
    this.#chunk = chunk;
    this.#from = from;
  }
}

/** The length of the chunk if the head does not end in it. @param tail what came of the head just before the chunk */
function endOfHead(chunk: Buffer, from: number, tail: string): number {
  const across = (tail + chunk.toString('latin1', from, from + TAIL)).indexOf(HEAD_END);
  if (across !== -1) return from + across + HEAD_END.length - tail.length;
  const at = chunk.indexOf(HEAD_END, from, 'latin1');
  return at === -1 ? chunk.length : at + HEAD_END.length;
}
