/** The events of a request: which they are by its content type, and whether each is a payment event. */
import type { Context } from 'koa';
import { traceparentOf } from '../../observability/tracing.js';
import { parsePaymentEvent } from '../../payments/payment-event.js';
import type { NewRecord, RecordHeader } from '../../ports/broker.js';
import { ApiError, type FieldError, fieldError } from '../api-error.js';
import { mediaType } from '../body.js';
import { traceOf } from '../request-context.js';
import { binaryHeaders, elementsOf, valuesOfLines } from './event-values.js';

export const MAX_EVENTS = 1_000;
export const CLOUD_EVENT = 'application/cloudevents+json';
export const CLOUD_EVENT_BATCH = 'application/cloudevents-batch+json';
export const NDJSON = 'application/x-ndjson';
const STRUCTURED: RecordHeader = ['content-type', Buffer.from(`${CLOUD_EVENT}; charset=utf-8`)];

export interface Form {
  readonly valuesOf: (body: Buffer) => Iterable<Buffer>;
  readonly headers: readonly RecordHeader[];
}

const CORRELATION = 'x-correlation-id';
const ALLOWED = ['application/json', NDJSON, CLOUD_EVENT, CLOUD_EVENT_BATCH, 'or any with the headers of a CloudEvent'];
const whole = (body: Buffer) => [body];

/** @throws ApiError 415 */
export function formOf(ctx: Context): Form {
  const type = mediaType(ctx);
  if (type === CLOUD_EVENT) return { valuesOf: whole, headers: [STRUCTURED] };
  if (type === CLOUD_EVENT_BATCH) return { valuesOf: elementsOf, headers: [STRUCTURED] };
  if (ctx.req.headers['ce-specversion']) return { valuesOf: whole, headers: binaryHeaders(ctx.req) };
  if (type === 'application/json') return { valuesOf: whole, headers: [] };
  if (type === NDJSON) return { valuesOf: valuesOfLines, headers: [] };
  throw new ApiError({ code: 'unsupported-type', params: { allowed: ALLOWED } });
}

const SLICE_MS = 2;
/** A single event of 256 KiB with 20,000 fields takes 20 ms to parse: 60 connections stopped the event loop for seconds. */
const LARGE_BYTES = 16 * 1024;

/**
 * A body larger than LARGE_BYTES waits for a slice of its publisher, and takes several if it needs more than SLICE_MS; a few
 * events are read immediately. (When each request waited for a slice of its publisher, 32 connections with an event each
 * published 2,000 per second instead of 8,500.)
 *
 * @param pause fulfilled in the publisher's next slice @throws ApiError 400 that names every event that is wrong, 413
 */
export async function recordsOf(body: Buffer, { valuesOf, headers }: Form, pause: () => Promise<void>) {
  const records: NewRecord[] = [];
  const errors: FieldError[] = [];
  if (body.length > LARGE_BYTES) await pause();
  let begun = performance.now();
  for (const value of valuesOf(body)) {
    const index = records.length + errors.length;
    if (index > 0 && performance.now() - begun >= SLICE_MS) {
      await pause();
      begun = performance.now();
    }
    if (index === MAX_EVENTS) throw new ApiError({ code: 'too-many-events', params: { limit: MAX_EVENTS } });
    const parsed = parsePaymentEvent({ value, headers });
    if (parsed.ok) records.push({ key: Buffer.from(String(parsed.event.accountId)), value, headers });
    else errors.push(wrong(`[${index}]`, parsed.field, parsed.reason));
  }
  if (errors.length > 0) throw new ApiError({ code: 'invalid-events' }, { errors });
  return records;
}

/** The reason is that of `events publish --check` and of a dead letter. */
function wrong(event: string, field: string | undefined, reason: string): FieldError {
  return fieldError(field ? `${event}.${field}` : event, {
    code: 'not-a-payment-event',
    params: { event, why: reason },
  });
}

/** Of every record of the request, if they are well-formed: a request has up to 1,000 records. */
export function commonHeaders(ctx: Context): readonly RecordHeader[] {
  const { correlationId } = ctx.state;
  const trace = traceOf(ctx);
  return [
    ...(trace ? [header('traceparent', traceparentOf(trace))] : []),
    ...(trace?.state ? [header('tracestate', trace.state)] : []),
    ...(ctx.get(CORRELATION) === correlationId ? [header(CORRELATION, correlationId)] : []),
  ];
}

function header(name: string, value: string): RecordHeader {
  return [name, Buffer.from(value)];
}
