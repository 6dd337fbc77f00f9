/**
 * Spans: what makes them where a collector is set, and what makes none. Whoever is handed one calls it the same way, and
 * goes on with what it was given where it gets null: so nothing is made, and nothing kept, while nobody collects.
 */
import type { TraceContext } from './trace-context.js';

export interface Tracing {
  /** False: every span is null. */
  readonly exports: boolean;
  /** A request to the API. */
  request(method: string, parent: TraceContext | null): RequestSpan | null;
  /** An append to the event store. */
  append(stream: string, parent: TraceContext | null): Span | null;
  /** A payment record, from its being handed out to its being done. */
  fanOut(record: TracedRecord, parent: TraceContext | null): Span | null;
  attempt(request: TracedAttempt): AttemptSpan | null;
  /** What is left is exported, for a second at most. */
  close(): Promise<void>;
}

interface Spanned {
  /** What happens in it belongs here. */
  readonly context: TraceContext;
}

export interface Span extends Spanned {
  /** @param error a name of which there are few; null where all went well */
  end(error: string | null): void;
}

interface RequestSpan extends Spanned {
  /** @param route its template, never the path: ids are in that. Null for none of ours. */
  end(route: string | null, status: number): void;
}

export interface AttemptSpan extends Spanned {
  /** Null where no response came, and where one came in full. */
  end(status: number | null, error: string | null): void;
}

export interface TracedRecord {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

export interface TracedAttempt {
  /** Only its host and port are told: what comes after may be secret. */
  readonly url: string;
  /** webhook-id */
  readonly id: string;
  /** What it belongs to. */
  readonly trace?: TraceContext | null;
  /** The span of the attempt before it, of the same trace: a wait in a tier lies between them. */
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
