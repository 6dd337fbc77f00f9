/**
 * The parser of payment records for the dispatcher, the command line and the audit. A record is a plain payment event
 * or a CloudEvent 1.0 in structured or binary mode. The bytes are sent unchanged.
 */
import type { NewRecord } from '../../ports/broker.js';
import { parseBinary, parseStructured } from './cloud-event.js';
import { type Content, contentOf, contentTypeOf, hasAttribute, JSON_CONTENT } from './cloud-event-attributes.js';
import { headersProblem } from './header-limits.js';
import { isObject, type ParsedPayment, type Refused, readJson, refused } from './parsed-payment.js';
import { isPaymentEvent, refusedBy, tooLong } from './payment-check.js';
import { MAX_ID_BYTES } from './payment-event-schema.js';

export type { ParsedPayment, PaymentEvent } from './parsed-payment.js';

export const MAX_PAYMENT_BYTES = 256 * 1024;

const CLOUD_EVENT = /^application\/cloudevents/i;
const CLOUD_EVENT_BATCH = /^application\/cloudevents-batch/i;
const CLOUD_EVENT_JSON = /^application\/cloudevents(\+json)?[\t ]*(;|$)/i;
const BATCH = 'a batch of CloudEvents is not valid on Kafka: publish each as a separate record';
const OTHER_FORMAT = 'the CloudEvent is not in JSON format';

/** Never throws. The reason names the problem without the value. */
export function parsePaymentEvent(record: Pick<NewRecord, 'value' | 'headers'>): ParsedPayment {
  const { value, headers } = record;
  if (value !== null && value.length > MAX_PAYMENT_BYTES) {
    return refused(`the record has more than ${MAX_PAYMENT_BYTES} bytes`);
  }
  if (headers.length === 0) return withShortIdentity(parseValue(value));
  const problem = headersProblem(headers);
  return problem === null ? withShortIdentity(parseWithHeaders(record)) : refused(problem);
}

/** The schemas count characters, of which there are never more than bytes. */
function withShortIdentity(parsed: ParsedPayment): ParsedPayment {
  if (!parsed.ok) return parsed;
  const { id, cloudEvent } = parsed.event;
  const prefix = cloudEvent?.mode === 'binary' ? 'ce_' : '';
  if (Buffer.byteLength(id) > MAX_ID_BYTES) return tooLongBy(`${prefix}id`);
  const isLong = cloudEvent && Buffer.byteLength(cloudEvent.source) > MAX_ID_BYTES;
  return isLong ? tooLongBy(`${prefix}source`) : parsed;
}

function tooLongBy(field: string): Refused {
  return refused(tooLong(field), field);
}

function parseWithHeaders(record: Pick<NewRecord, 'value' | 'headers'>): ParsedPayment {
  const { value } = record;
  const contentType = contentTypeOf(record);
  const isDeclared = contentType !== undefined && CLOUD_EVENT.test(contentType);
  if (isDeclared && CLOUD_EVENT_BATCH.test(contentType)) return refused(BATCH);
  if (isDeclared && !CLOUD_EVENT_JSON.test(contentType)) return refused(OTHER_FORMAT);
  // Structured mode may repeat its attributes as headers and may omit the content type; then the value decides.
  const isBinary = hasAttribute(record, 'ce_specversion') && !isDeclared;
  if (isBinary && (contentType !== undefined || !hasVersion(value))) return parseBinary(record);
  const parsed = parseValue(value);
  if (parsed.ok || !isUnversioned(record, isDeclared)) return parsed;
  const missing = isDeclared ? 'specversion' : 'ce_specversion';
  return refused(`${missing} is missing`, missing);
}

function parseValue(value: Buffer | null): ParsedPayment {
  const read = readJson(value);
  if (!read.ok) return read;
  const { json } = read;
  if (isVersioned(json)) return parseStructured(json);
  if (isPaymentEvent(json)) {
    const { id, type, accountId } = json;
    return { ok: true, event: { id, type, accountId } };
  }
  return Array.isArray(json) && isVersioned(json[0]) ? refused(BATCH) : refusedBy(isPaymentEvent);
}

/** Whether a record that is no payment event was meant as a CloudEvent. */
function isUnversioned(record: Pick<NewRecord, 'value' | 'headers'>, isDeclared: boolean): boolean {
  if (!isDeclared) return hasAttribute(record, 'ce_id', 'ce_source');
  const read = readJson(record.value);
  return read.ok && isObject(read.json) && !isVersioned(read.json);
}

function hasVersion(value: Buffer | null): boolean {
  const read = readJson(value);
  return read.ok && isVersioned(read.json);
}

function isVersioned(json: unknown): json is object {
  return isObject(json) && Object.hasOwn(json, 'specversion');
}

/** What the requests of its deliveries say beside the body. */
export function contentOfPayment(record: Pick<NewRecord, 'value' | 'headers'>): Content {
  const parsed = parsePaymentEvent(record);
  return parsed.ok && parsed.event.cloudEvent ? contentOf(parsed.event.cloudEvent, record) : JSON_CONTENT;
}
