/** Classifies a record by docs/payment-events.md, independently of the service's parser. */
import type { NewRecord } from '../../../src/ports/broker.js';

/** Of key, headers and value together. */
export const MOST_RECORD_BYTES = 524_288;
const MOST_BYTES = 262_144;
const MOST_HEADERS = 1_000;
const MOST_HEADER_BYTES = 65_536;
const MOST_ID_BYTES = 1_024;
const TYPES = ['cash_in', 'cash_out', 'refund_in', 'refund_out', 'med_created', 'med_accepted', 'med_rejected'];
const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const MEDIA_TYPE = new RegExp(`^${TOKEN}/${TOKEN}[ \\t]*(;[ -~\\t]*)?$`);
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const NOTHING = Buffer.alloc(0);

export interface Expected {
  readonly type: string;
  readonly accountId: number;
  readonly mode: 'plain' | 'structured' | 'binary';
  readonly id: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** Null if the record is no payment event. */
export function expectedOf(record: NewRecord): Expected | null {
  const { value, headers } = record;
  const said = headers.filter(([, { length }]) => length > 0);
  if (recordBytes(record) > MOST_RECORD_BYTES || (value?.length ?? 0) > MOST_BYTES || headers.length > MOST_HEADERS)
    return null;
  const texts = headers.flatMap(([name, bytes]) => [Buffer.from(name), bytes]);
  if (Buffer.concat(texts).length > MOST_HEADER_BYTES) return null;
  const contentType = said.findLast(([name]) => name === 'content-type')?.[1].toString();
  const isDeclared = contentType?.toLowerCase().startsWith('application/cloudevents') ?? false;
  if (isDeclared && !isJsonFormat(contentType ?? '')) return null;
  const fields = objectOf(value);
  const isVersioned = fields !== null && 'specversion' in fields;
  const hasHeader = said.some(([name]) => name === 'ce_specversion');
  if (hasHeader && !isDeclared && (contentType !== undefined || !isVersioned)) return binaryOf(record, contentType);
  if (fields === null) return null;
  return isVersioned ? structuredOf(fields) : plainOf(fields);
}

export function recordBytes({ key, value, headers }: NewRecord): number {
  const texts = headers.flatMap(([name, bytes]) => [Buffer.from(name), bytes]);
  return [key ?? NOTHING, value ?? NOTHING, ...texts].reduce((sum, { length }) => sum + length, 0);
}

function isJsonFormat(contentType: string): boolean {
  const [media = ''] = contentType.toLowerCase().split(';');
  return ['application/cloudevents', 'application/cloudevents+json'].includes(media.replace(/[ \t]+$/, ''));
}

function plainOf({ id, type, accountId }: Fields): Expected | null {
  const isGood = isText(id) && isShort(id) && typeof type === 'string' && TYPES.includes(type);
  return isGood && isSafe(accountId) ? { id, type, accountId, mode: 'plain' } : null;
}

function structuredOf(fields: Fields): Expected | null {
  const { specversion, id, source, type, data, accountid } = fields;
  if (specversion !== '1.0' || !isText(id) || !isText(source) || !isText(type)) return null;
  if (!isShort(id) || !isShort(source)) return null;
  if ('data_base64' in fields && ('data' in fields || typeof fields.data_base64 !== 'string')) return null;
  if ('accountid' in fields && !isSafe(accountid) && !isDecimal(accountid)) return null;
  const inData = isObject(data) ? (data.accountId ?? undefined) : undefined;
  if (inData !== undefined && !isSafe(inData)) return null;
  return typed(type, inData ?? (accountid === undefined ? undefined : Number(accountid)), { id, mode: 'structured' });
}

function binaryOf({ value, headers }: NewRecord, contentType: string | undefined): Expected | null {
  const attributes = headers.filter(([name, { length }]) => length > 0 && /^ce_[0-9a-z]+$/.test(name));
  if (attributes.some(([, bytes]) => !Buffer.from(bytes.toString()).equals(bytes))) return null;
  const all = (name: string) => [
    ...new Set(attributes.filter(([key]) => key === name).map(([, bytes]) => bytes.toString())),
  ];
  const decisive = ['ce_specversion', 'ce_id', 'ce_source', 'ce_type', 'ce_accountid'];
  if (decisive.some((name) => all(name).length > 1)) return null;
  const [version, [id], [source], [type], [account]] = [
    all('ce_specversion'),
    all('ce_id'),
    all('ce_source'),
    all('ce_type'),
    all('ce_accountid'),
  ];
  if (version[0] !== '1.0' || !isText(id) || !isText(source) || !isText(type)) return null;
  if (!isShort(id) || !isShort(source)) return null;
  if (contentType !== undefined && !MEDIA_TYPE.test(contentType)) return null;
  if (account !== undefined && !isDecimal(account)) return null;
  return typed(type, account === undefined ? objectOf(value)?.accountId : Number(account), { id, mode: 'binary' });
}

function typed(type: string, accountId: unknown, rest: Pick<Expected, 'id' | 'mode'>): Expected | null {
  const labels = type.split('.');
  const bare = labels.pop() ?? '';
  const isPrefix = labels.every((label) => /^[\w-]+$/.test(label));
  return isPrefix && TYPES.includes(bare) && isSafe(accountId) ? { ...rest, type: bare, accountId } : null;
}

function objectOf(value: Buffer | null): Fields | null {
  try {
    const json: unknown = JSON.parse(UTF8.decode(value ?? NOTHING));
    if (!isObject(json)) return null;
    // Own properties only: an object may have any name, even the prototype's.
    const said = Object.entries(json).filter(([, field]) => field !== null);
    return Object.assign(Object.create(null), Object.fromEntries(said));
  } catch {
    return null;
  }
}

function isObject(json: unknown): json is Fields {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

function isShort(text: string): boolean {
  return Buffer.from(text).length <= MOST_ID_BYTES;
}

function isSafe(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

/** A whole number in JSON notation; callers check that it is a safe integer. */
function isDecimal(value: unknown): boolean {
  if (typeof value !== 'string' || !/^-?[0-9]{1,16}$/.test(value)) return false;
  return String(BigInt(value)) === value;
}
