/**
 * Parses a CloudEvent 1.0 on Kafka as a payment event
 * (https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/bindings/kafka-protocol-binding.md).
 */
import type { NewRecord } from '../../ports/broker.js';
import type { EventType } from '../../webhooks/limits.js';
import { attributesOf, attributesProblem } from './cloud-event-attributes.js';
import {
  type CloudEvent,
  type ParsedPayment,
  type Refused,
  readJson,
  refused,
  withoutNulls,
} from './parsed-payment.js';
import { areCloudEventHeaders, isCloudEventData, isStructuredCloudEvent, refusedBy } from './payment-check.js';

/** @param json the value, in the JSON event format */
export function parseStructured(event: object): ParsedPayment {
  const json: unknown = 'data' in event ? { ...event, data: withoutNulls(event.data) } : event;
  if (!isStructuredCloudEvent(json)) return refusedBy(isStructuredCloudEvent);
  const { id, source, type, accountid, data } = json;
  const accountId = isCloudEventData(data) ? data.accountId : Number(accountid);
  return payment({ id, type, accountId }, { source, mode: 'structured' });
}

/** The attributes are in the headers. If they name the account, the value may be anything or missing. */
export function parseBinary(record: Pick<NewRecord, 'value' | 'headers'>): ParsedPayment {
  const attributes = attributesOf(record);
  if (!areCloudEventHeaders(attributes)) return refusedBy(areCloudEventHeaders);
  const problem = attributesProblem(record);
  if (problem !== null) return refused(problem);
  const { ce_id: id = '', ce_source: source = '', ce_type: type = '', ce_accountid: text } = attributes;
  const accountId = text === undefined ? accountOf(record.value) : Number(text);
  if (typeof accountId !== 'number') return accountId;
  return payment({ id, type, accountId }, { source, mode: 'binary' });
}

function accountOf(value: Buffer | null): number | Refused {
  const read = readJson(value);
  if (read.ok && isCloudEventData(read.json)) return read.json.accountId;
  const why = read.ok ? `in the value ${refusedBy(isCloudEventData).reason}` : read.reason;
  return refused(`ce_accountid is missing, and ${why}`, 'ce_accountid');
}

interface Named {
  readonly id: string;
  /** May have a prefix. */
  readonly type: string;
  readonly accountId: number;
}

function payment({ id, type, accountId }: Named, cloudEvent: CloudEvent): ParsedPayment {
  // Sixteen digits may exceed 2^53.
  if (!Number.isSafeInteger(accountId)) return refused('accountid is not a safe integer', 'accountid');
  const bare = type.slice(type.lastIndexOf('.') + 1) as EventType;
  return { ok: true, event: { id, type: bare, accountId, cloudEvent } };
}
