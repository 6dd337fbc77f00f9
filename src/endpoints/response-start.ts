/**
 * A status line that ends later is not seen: informational heads of 32 KiB may come before it (received-limit.ts). Held only
 * while a head is awaited.
 */
const MOST_CHARACTERS = 34 * 1_024;
/** RFC 9112, section 4, with any version, number of spaces and reason phrase: those of a server do not matter. */
const STATUS_LINE = /^HTTP\/\d(?:\.\d)? +([1-9]\d\d)(?: |$)/;
const SWITCHING_PROTOCOLS = 101;
const STATUS_END = 'HTTP/1.1 100'.length;
const ONE = 0x31;

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
    return parseFinalStatus(this.text);
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

/** The first status other than 1xx, or 101, after which no HTTP follows. Null if its line is incomplete or not HTTP. */
function parseFinalStatus(text: string): number | null {
  let at = 0;
  for (;;) {
    while (text[at] === '\r' || text[at] === '\n') at += 1;
    const line = readLine(text, at);
    const status = Number(STATUS_LINE.exec(line?.content ?? '')?.[1]);
    if (line === null || Number.isNaN(status)) return null;
    if (status >= 200 || status === SWITCHING_PROTOCOLS) return status;
    const end = findHeadEnd(text, line.end);
    if (end === null) return null;
    at = end;
  }
}

/** After the empty line that ends the fields; null if there is none yet. */
function findHeadEnd(text: string, fields: number): number | null {
  let line = readLine(text, fields);
  while (line !== null && line.content !== '') line = readLine(text, line.end);
  return line?.end ?? null;
}

/** The line from `at`, which ends after its LF or CR LF. Null if it is incomplete, or contains a CR. */
function readLine(text: string, at: number): { readonly content: string; readonly end: number } | null {
  const lineFeed = text.indexOf('\n', at);
  if (lineFeed === -1) return null;
  const content = text.slice(at, text[lineFeed - 1] === '\r' && lineFeed > at ? lineFeed - 1 : lineFeed);
  return content.includes('\r') ? null : { content, end: lineFeed + 1 };
}
