import type { LogEntries } from '../../../src/delivery/log/log-record.js';
import type { NewRecord } from '../../../src/ports/broker.js';

/** A record of the deliveries topic. */
export function toLogRecord(entries: Partial<LogEntries> & { readonly store?: string }): NewRecord {
  return { key: null, value: Buffer.from(JSON.stringify(entries)), headers: [] };
}
