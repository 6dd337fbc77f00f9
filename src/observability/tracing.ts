/**
 * Spans: one implementation for a configured collector, and one that creates none. Callers use both the same way and
 * continue with their own context if they get null: so nothing is created or stored without a collector. And the context
 * of a trace, which is pure.
 */

export interface Tracing {
  /** False: every span is null. */
  readonly exports: boolean;
  /** A request to the API. */
  request(method: string, parent: TraceContext | null): RequestSpan | null;
  /** An append to the event store. */
  append(stream: string, parent: TraceContext | null): Span | null;
  /** A payment record, from being handed out until it is done. */
  fanOut(record: TracedRecord, parent: TraceContext | null): Span | null;
  attempt(request: TracedAttempt): AttemptSpan | null;
  /** Exports the remaining spans, for a second at most. */
  close(): Promise<void>;
}

interface Spanned {
  /** The context for work within the span. */
  readonly context: TraceContext;
}

export interface Span extends Spanned {
  /** @param error a name from a small set; null for success */
  end(error: string | null): void;
}

interface RequestSpan extends Spanned {
  /** @param route the template, never the path, which contains ids. Null: no route of ours. */
  end(route: string | null, status: number): void;
}

export interface AttemptSpan extends Spanned {
  /** The status is null without a response, the error null after a complete one. */
  end(status: number | null, error: string | null): void;
}

type TracedRecord = { readonly topic: string; readonly partition: number; readonly offset: number };

export interface TracedAttempt {
  /** Only host and port are exported: the rest may be secret. */
  readonly url: string;
  /** webhook-id */
  readonly id: string;
  /** The trace of the attempt. */
  readonly trace?: TraceContext | null;
  /** The span of the previous attempt, of the same trace: a wait in a tier lies between the two. */
  readonly previous?: string | null;
}

export const noTracing: Tracing = {
  exports: false,
  request: () => null,
  append: () => null,
  fanOut: () => null,
  attempt: () => null,
  close: async () => undefined,
};

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
  /** tracestate, as previous systems wrote it; null if missing or malformed. */
  readonly state: string | null;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const KNOWN_FLAGS = 3;
const SPAN_ID = /^[0-9a-f]{16}$/;
const ZEROS = /^0+$/;
const STATE_CHARACTERS = 512;
const STATE_MEMBERS = 32;
const STATE_MEMBER =
  /^[a-z0-9][a-z0-9_\-*/@]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

/** Null if traceparent is missing or malformed; for a version later than 00 only the first four fields are read. */
export function parseTraceContext(traceparent: string | undefined, tracestate?: string): TraceContext | null {
  if (!traceparent) return null;
  const [, version, traceId = '', spanId = '', flags = '', rest] = TRACEPARENT.exec(traceparent) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && rest !== undefined)) return null;
  if (ZEROS.test(traceId) || ZEROS.test(spanId)) return null;
  return { traceId, spanId, flags: Number.parseInt(flags, 16) & KNOWN_FLAGS, state: soundState(tracestate) };
}

export function traceparentOf({ traceId, spanId, flags }: TraceContext): string {
  return `00-${traceId}-${spanId}-0${flags}`;
}

/** The same trace with a new span id. @param random from 0 up to, not including, 1 */
export function childOf(parent: TraceContext, random: () => number): TraceContext {
  const [high, half] = [Math.floor(random() * 2 ** 32), Math.floor(random() * 2 ** 31)];
  // Odd, because an id of all zeros is invalid.
  return { ...parent, spanId: hex8(high) + hex8(2 * half + 1) };
}

export function isSpanId(text: string): boolean {
  return SPAN_ID.test(text) && !ZEROS.test(text);
}

function hex8(number: number): string {
  return number.toString(16).padStart(8, '0');
}

/** All or nothing: half of another system's state may mean something else. */
function soundState(tracestate: string | undefined): string | null {
  if (!tracestate || tracestate.length > STATE_CHARACTERS) return null;
  const members = tracestate.split(',').map((member) => member.replace(/^[ \t]+|[ \t]+$/g, ''));
  const given = members.filter((member) => member !== '');
  const sound = given.length > 0 && given.length <= STATE_MEMBERS && given.every((member) => STATE_MEMBER.test(member));
  return sound ? given.join(',') : null;
}
