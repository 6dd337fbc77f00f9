/** The headers that tell an endpoint which trace a request belongs to. */
import { type TraceContext, traceparentOf } from '../../observability/trace-context.js';

interface Named {
  readonly key: string;
}

const NONE: readonly string[] = [];
const TRACEPARENT = 'traceparent';
const TRACESTATE = 'tracestate';

/**
 * A flat list of names and values.
 * @param own the webhook's registered headers, which replace headers of these names
 */
export function traceHeaders(trace: TraceContext | null | undefined, own: readonly Named[]): readonly string[] {
  if (!trace || hasOwn(own, TRACEPARENT)) return NONE;
  const traceparent = [TRACEPARENT, traceparentOf(trace)];
  return trace.state === null || hasOwn(own, TRACESTATE) ? traceparent : [...traceparent, TRACESTATE, trace.state];
}

function hasOwn(headers: readonly Named[], name: string): boolean {
  return headers.some(({ key }) => key.toLowerCase() === name);
}
