/**
 * Spans, for a configured collector. Without one there is no Tracing, and callers continue with their own context: nothing is
 * created or stored. And the context of a trace, which is pure.
 */

export interface Tracing {
  begin(span: NewSpan): Span;
  /** Exports the remaining spans, for a second at most. */
  close(): Promise<void>;
}

/** Hazard: never a possible secret, as in a path, which also contains ids, or in a URL behind its port. */
type SpanAttributes = Readonly<Record<string, string | number>>;

export interface NewSpan {
  readonly name: string;
  readonly kind: 'server' | 'client' | 'consumer';
  readonly parent: TraceContext | null;
  readonly attributes: SpanAttributes;
}

export interface Span {
  /** The context for work within the span. */
  readonly context: TraceContext;
  /** @param error a name from a small set; null for success @param more what is known at its end */
  end(error: string | null, more?: SpanAttributes, name?: string): void;
}

/**
 * Trace context (https://www.w3.org/TR/trace-context/): the two headers that connect requests and records of several
 * systems. Pure: every part may read and write them.
 */
export interface TraceContext {
  /** 32 lower-case hex digits. */
  readonly traceId: string;
  /** 16 lower-case hex digits: the next span is a child of this one. */
  readonly spanId: string;
  /** The known flags: 1 is sampled, 2 says that the trace id is random. */
  readonly flags: number;
  /** tracestate, as previous systems wrote it; null if missing or too long. */
  readonly state: string | null;
}

/** Length of the four fields, and of the hyphen before the further fields of a later version. */
const MAX_TRACEPARENT_CHARACTERS = 56;
const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-)?$/;
const KNOWN_FLAGS = 3;
const ZEROS = /^0+$/;
/** Others' affair, so it is passed on unchanged if it fits a header. */
const STATE = /^[\x20-\x7e]{1,512}$/;

/** Null if traceparent is missing or malformed; for a version later than 00 only the first four fields are read. */
export function parseTraceContext(traceparent: string | undefined, tracestate = ''): TraceContext | null {
  if (!traceparent) return null;
  const fields = traceparent.slice(0, MAX_TRACEPARENT_CHARACTERS);
  const [, version, traceId = '', spanId = '', flags = '', more] = TRACEPARENT.exec(fields) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return null;
  if (ZEROS.test(traceId) || ZEROS.test(spanId)) return null;
  return {
    traceId,
    spanId,
    flags: Number.parseInt(flags, 16) & KNOWN_FLAGS,
    state: STATE.test(tracestate) ? tracestate : null,
  };
}

export function traceparentOf({ traceId, spanId, flags }: TraceContext): string {
  return `00-${traceId}-${spanId}-0${flags}`;
}
