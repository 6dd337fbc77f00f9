/**
 * How many headers a payment record may have. Hazard: kafkajs encodes 100 headers per ms, so a retry record or dead letter
 * with 20,000 of them would stop the event loop for 0.2 s.
 */
import type { RecordHeader } from '../../ports/broker.js';

export const MAX_HEADERS = 1_000;
export const MAX_HEADERS_BYTES = 64 * 1024;

/** Null if there is none. The text of names and values counts, in bytes. */
export function headersProblem(headers: readonly RecordHeader[]): string | null {
  if (headers.length > MAX_HEADERS) return `the record has more than ${MAX_HEADERS} headers`;
  let bytes = 0;
  for (const [name, value] of headers) bytes += Buffer.byteLength(name) + value.length;
  return bytes > MAX_HEADERS_BYTES ? `the headers have more than ${MAX_HEADERS_BYTES} bytes` : null;
}
