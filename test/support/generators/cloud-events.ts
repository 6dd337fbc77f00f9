/** Sample CloudEvents on Kafka. */
import type { NewRecord, RecordHeader } from '../../../src/ports/broker.js';
import { ACCOUNT, header } from './delivery-samples.js';

export const SOURCE = '/payments/br';

export const STRUCTURED = {
  specversion: '1.0',
  id: 'pay-1',
  source: SOURCE,
  type: 'com.example.payments.cash_in',
  data: { accountId: ACCOUNT, amount: '10.00' },
};

export const BINARY: Readonly<Record<string, string>> = {
  ce_specversion: '1.0',
  ce_id: 'pay-1',
  ce_source: SOURCE,
  ce_type: 'com.example.payments.cash_in',
  ce_accountid: String(ACCOUNT),
};

type Value = string | Buffer | null | object;

export function structured(changes: object = {}, headers: readonly RecordHeader[] = []): NewRecord {
  return { key: null, value: bytesOf({ ...STRUCTURED, ...changes }), headers };
}

/** Omits headers that are undefined. */
export function binary(
  changes: Readonly<Record<string, string | undefined>> = {},
  value: Value = { amount: '10.00' },
  more: readonly RecordHeader[] = [],
): NewRecord {
  const given = Object.entries({ ...BINARY, ...changes }).filter(
    (pair): pair is [string, string] => pair[1] !== undefined,
  );
  return { key: null, value: bytesOf(value), headers: [...given.map(([name, text]) => header(name, text)), ...more] };
}

function bytesOf(value: Value): Buffer | null {
  if (value === null || Buffer.isBuffer(value)) return value;
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
}
