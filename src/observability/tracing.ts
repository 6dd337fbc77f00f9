/**
 * Spans: one implementation for a configured collector, and one that creates none. Callers use both the same way and
 * continue with their own context if they get null: so nothing is created or stored without a collector.
 */
import type { TraceContext } from './trace-context.js';

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
