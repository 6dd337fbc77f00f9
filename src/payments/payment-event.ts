/**
 * Parses payment records: a plain payment event, or a CloudEvent 1.0 in structured or binary mode
 * (https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/bindings/kafka-protocol-binding.md).
 */
import type { NewRecord, RecordHeader } from '../ports/broker.js';
import type { EventType } from '../webhooks/limits.js';
import {
  attributesOf,
  attributesProblem,
  type Content,
  contentOf,
  contentTypeOf,
  hasAttribute,
  JSON_CONTENT,
} from './cloud-event-attributes.js';
import type { CloudEvent, ParsedPayment, ReadJson, Refused } from './parsed-payment.js';
import { isObject, readJson, refused, withoutNulls } from './parsed-payment.js';
import {
  areCloudEventHeaders,
  isCloudEventData,
  isPaymentEvent,
  isStructuredCloudEvent,
  refusedBy,
} from './payment-check.js';

export type { ParsedPayment, PaymentEvent } from './parsed-payment.js';

/** Of key, headers and value together: of a larger one no bytes are kept, so the service's own topics take all that it writes. */
export const MAX_RECORD_BYTES = 512 * 1024;
export const MAX_PAYMENT_BYTES = 256 * 1024;
/** Hazard: kafkajs encodes 100 headers per ms, so a retry record with 20,000 of them would stop the event loop for 0.2 s. */
export const MAX_HEADERS = 1_000;
export const MAX_HEADERS_BYTES = 64 * 1024;

const CLOUD_EVENT = /^application\/cloudevents/i;
const CLOUD_EVENT_BATCH = /^application\/cloudevents-batch/i;
const CLOUD_EVENT_JSON = /^application\/cloudevents(\+json)?[\t ]*(;|$)/i;
const BATCH = 'a batch of CloudEvents is not valid on Kafka: publish each as a separate record';
const OTHER_FORMAT = 'the CloudEvent is not in JSON format';

type Given = Pick<NewRecord, 'value' | 'headers'> & Partial<Pick<NewRecord, 'key'>>;

/** Never throws. The reason names the problem without the value. */
export function parsePaymentEvent(record: Given): ParsedPayment {
  const { value, headers } = record;
  const isTooLarge = recordBytes(record) > MAX_RECORD_BYTES;
  if (isTooLarge) return refused(`key, headers and value have together more than ${MAX_RECORD_BYTES} bytes`);
  if (value && value.length > MAX_PAYMENT_BYTES) return refused(`the record has more than ${MAX_PAYMENT_BYTES} bytes`);
  if (headers.length === 0) return parseRead(readJson(value));
  const problem = headersProblem(headers);
  return problem === null ? parseWithHeaders(record) : refused(problem);
}

function parseWithHeaders(record: Pick<NewRecord, 'value' | 'headers'>): ParsedPayment {
  const { value } = record;
  const contentType = contentTypeOf(record);
  if (contentType !== undefined && CLOUD_EVENT.test(contentType)) return parseDeclared(contentType, value);
  // Structured mode may repeat its attributes as headers and may omit the content type; then the value decides.
  const isBinary = hasAttribute(record, 'ce_specversion');
  const read = readJson(value);
  if (isBinary && (contentType !== undefined || !isVersioned(read))) return parseBinary(record, read);
  const parsed = parseRead(read);
  if (parsed.ok || isBinary || !hasAttribute(record, 'ce_id', 'ce_source')) return parsed;
  return refused('ce_specversion is missing', 'ce_specversion');
}

/** Of a record with the content type of a CloudEvent. */
function parseDeclared(contentType: string, value: Buffer | null): ParsedPayment {
  if (CLOUD_EVENT_BATCH.test(contentType)) return refused(BATCH);
  if (!CLOUD_EVENT_JSON.test(contentType)) return refused(OTHER_FORMAT);
  const read = readJson(value);
  const parsed = parseRead(read);
  const isMeantAsOne = !parsed.ok && read.ok && isObject(read.json) && !isVersioned(read);
  return isMeantAsOne ? refused('specversion is missing', 'specversion') : parsed;
}

function parseRead(read: ReadJson): ParsedPayment {
  if (!read.ok) return read;
  if (isVersioned(read)) return parseStructured(read.json);
  const { json } = read;
  if (isPaymentEvent(json)) {
    const { id, type, accountId } = json;
    return { ok: true, event: { id, type, accountId }, json };
  }
  return Array.isArray(json) && isVersioned({ ok: true, json: json[0] }) ? refused(BATCH) : refusedBy(isPaymentEvent);
}

function isVersioned(read: ReadJson): read is { readonly ok: true; readonly json: object } {
  return read.ok && isObject(read.json) && Object.hasOwn(read.json, 'specversion');
}

/** What the requests of its deliveries say beside the body. */
export function contentOfPayment(record: Pick<NewRecord, 'value' | 'headers'>): Content {
  const parsed = parsePaymentEvent(record);
  return parsed.ok && parsed.event.cloudEvent ? contentOf(parsed.event.cloudEvent, record) : JSON_CONTENT;
}

/** Null if there is none. */
export function headersProblem(headers: readonly RecordHeader[]): string | null {
  if (headers.length > MAX_HEADERS) return `the record has more than ${MAX_HEADERS} headers`;
  return headersBytes(headers) > MAX_HEADERS_BYTES ? `the headers have more than ${MAX_HEADERS_BYTES} bytes` : null;
}

export function recordBytes({ key, value, headers }: Given): number {
  return (key?.length ?? 0) + (value?.length ?? 0) + headersBytes(headers);
}

function headersBytes(headers: readonly RecordHeader[]): number {
  return headers.reduce((bytes, [name, value]) => bytes + Buffer.byteLength(name) + value.length, 0);
}

/** @param json the value, in the JSON event format */
function parseStructured(event: object): ParsedPayment {
  const json: unknown = 'data' in event ? { ...event, data: withoutNulls(event.data) } : event;
  if (!isStructuredCloudEvent(json)) return refusedBy(isStructuredCloudEvent);
  const { id, source, type, accountid, data } = json;
  const accountId = isCloudEventData(data) ? data.accountId : Number(accountid);
  return payment({ id, type, accountId }, { source, mode: 'structured' }, json);
}

/** The attributes are in the headers. If they name the account, the value may be anything or missing. */
function parseBinary(record: Pick<NewRecord, 'headers'>, read: ReadJson): ParsedPayment {
  const attributes = attributesOf(record);
  if (!areCloudEventHeaders(attributes)) return refusedBy(areCloudEventHeaders);
  const problem = attributesProblem(record);
  if (problem !== null) return refused(problem);
  const { ce_id: id = '', ce_source: source = '', ce_type: type = '', ce_accountid: text } = attributes;
  const accountId = text === undefined ? accountOf(read) : Number(text);
  if (typeof accountId !== 'number') return accountId;
  const data = read.ok ? read.json : undefined;
  return payment({ id, type, accountId }, { source, mode: 'binary' }, { data });
}

function accountOf(read: ReadJson): number | Refused {
  if (read.ok && isCloudEventData(read.json)) return read.json.accountId;
  const why = read.ok ? `in the value ${refusedBy(isCloudEventData).reason}` : read.reason;
  return refused(`ce_accountid is missing, and ${why}`, 'ce_accountid');
}

/** @param event its type may have a prefix */
function payment(event: { id: string; type: string; accountId: number }, of: CloudEvent, json: object): ParsedPayment {
  const { id, type, accountId } = event;
  // Sixteen digits may exceed 2^53.
  if (!Number.isSafeInteger(accountId)) return refused('accountid is not a safe integer', 'accountid');
  const bare = type.slice(type.lastIndexOf('.') + 1) as EventType;
  return { ok: true, event: { id, type: bare, accountId, cloudEvent: of }, json };
}
