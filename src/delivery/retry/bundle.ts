/**
 * A record of a tier is a bundle: deliveries of one endpoint that return at the same time, each as a record of its own.
 *
 *   key: account and endpoint   header aw-bundle: {"due":...,"moreMs":...}   value: [index]\n<bytes>
 *
 * The index has an array for each member: the lengths of its key and value, null for none, then name and length of each
 * header. The bytes follow in that order. In place of a member that is done, an index in memory has null: parts keep their numbers.
 */
import { createHash } from 'node:crypto';
import { Ajv } from 'ajv';
import { headerText, type NewRecord, type ReceivedRecord, type RecordHeader } from '../../ports/broker.js';
import { milliseconds, object, optional, type Static, type Written } from '../../schema.js';
import type { EndpointKey } from '../endpoint-key.js';

export const MAX_MEMBERS = 500;
/** Of the members and their index. A single member may have more. */
export const MAX_BUNDLE_BYTES = 512 * 1024;
/** More is forged: to parse it would occupy the thread. A single member has at most 64 KiB of names, in JSON six times that. */
const MAX_INDEX_BYTES = 512 * 1024;

const HEADER = 'aw-bundle';
const LINE_FEED = 0x0a;
const WAIT = object('BundleWait', '', {
  due: milliseconds('When the record is due, since the epoch.'),
  moreMs: milliseconds('What is left of its wait then: retry/waiting.ts.'),
  addedMs: optional(
    milliseconds('What its members waited beyond what they count themselves, as the record was passed on.'),
  ),
});
const isWait = new Ajv().compile<Static<typeof WAIT>>(WAIT);

/** When a record is due in its tier, ms since the epoch, and what is left of its wait then, ms: to be passed in other tiers. */
export type BundleWait = Written<typeof WAIT>;
/** Null: done. */
export type Members = readonly (NewRecord | null)[];

/** A record of a tier, decoded. */
export interface Bundle {
  readonly record: ReceivedRecord;
  readonly wait: BundleWait;
  readonly members: Members;
}

type Length = number | null;
type IndexEntry = readonly [key: Length, value: Length, ...headers: (string | number)[]];

export function toBundle(endpoint: EndpointKey, members: Members, wait: BundleWait): NewRecord {
  const digest = createHash('sha256').update(endpoint).digest('base64url').slice(0, 22);
  const key = Buffer.from(`${Number.parseInt(endpoint, 10)} ${digest}`);
  return { key, value: toValue(members), headers: [[HEADER, Buffer.from(JSON.stringify(wait))]] };
}

/** The same bundle, with these members only. */
export function withWait({ key, value }: NewRecord, { due, moreMs, addedMs }: BundleWait): NewRecord {
  return { key, value, headers: [[HEADER, Buffer.from(JSON.stringify({ due, moreMs, addedMs }))]] };
}

export function withMembers<R extends NewRecord>(bundle: R, members: Members): R {
  return { ...bundle, value: toValue(members) };
}

function toValue(members: Members): Buffer {
  const index = JSON.stringify(members.map((member) => member && toEntry(member)));
  const bytes = members.flatMap((member) => (member ? buffersOf(member) : []));
  return Buffer.concat([Buffer.from(`${index}\n`), ...bytes]);
}

function toEntry({ key, value, headers }: NewRecord): IndexEntry {
  return [key?.length ?? null, value?.length ?? null, ...headers.flatMap(([name, text]) => [name, text.length])];
}

function buffersOf({ key, value, headers }: NewRecord): Buffer[] {
  return [...(key ? [key] : []), ...(value ? [value] : []), ...headers.map(([, text]) => text)];
}

/** In a bundle. Its entry counts: a header may consist of nothing else. */
export function bytesOf(member: NewRecord): number {
  const entry = Buffer.byteLength(JSON.stringify(toEntry(member))) + 1;
  return buffersOf(member).reduce((sum, { length }) => sum + length, entry);
}

/** Null for a foreign record. The members share its memory. */
export function membersOf({ value }: Pick<NewRecord, 'value'>): Members | null {
  const end = value?.indexOf(LINE_FEED) ?? -1;
  const index = value && end > 0 && end <= MAX_INDEX_BYTES ? jsonOf(value.subarray(0, end)) : null;
  if (!value || !Array.isArray(index) || index.length === 0 || index.length > MAX_MEMBERS) return null;
  const bytes = new Slices(value, end + 1);
  const members: (NewRecord | null)[] = [];
  for (const entry of index) {
    const member = entry === null ? null : memberOf(entry, bytes);
    if (member === undefined) return null;
    members.push(member);
  }
  return bytes.isAtEnd ? members : null;
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return null;
  }
}

/** Undefined for what is not a member. */
function memberOf(entry: unknown, bytes: Slices): NewRecord | undefined {
  if (!Array.isArray(entry) || entry.length < 2 || entry.length % 2 !== 0) return undefined;
  const [keyLength, valueLength, ...lengths] = entry as readonly unknown[];
  const key = keyLength === null ? null : bytes.take(keyLength);
  const value = valueLength === null ? null : bytes.take(valueLength);
  const headers: RecordHeader[] = [];
  for (let at = 0; at < lengths.length; at += 2) {
    const [name, text] = [lengths[at], bytes.take(lengths[at + 1])];
    if (typeof name !== 'string' || !text) return undefined;
    headers.push([name, text]);
  }
  return key === undefined || value === undefined ? undefined : { key, value, headers };
}

class Slices {
  readonly #bytes: Buffer;
  #at: number;

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes;
    this.#at = at;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  /** Undefined unless that many are left. */
  take(length: unknown): Buffer | undefined {
    if (typeof length !== 'number' || !Number.isInteger(length) || length < 0) return undefined;
    if (length > this.#bytes.length - this.#at) return undefined;
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }
}

/** Due now for a foreign record: bound for the dead letters, it must not hold up those behind it. */
const NOW: BundleWait = { due: 0, moreMs: 0 };

export function waitOf(bundle: Pick<NewRecord, 'headers'>): BundleWait {
  const wait = jsonOf(Buffer.from(headerText(bundle, HEADER) ?? 'null'));
  return isWait(wait) ? wait : NOW;
}

/** When its wait is over, in other tiers too, ms since the epoch. */
export function overAt(bundle: Pick<NewRecord, 'headers'>): number {
  const { due, moreMs } = waitOf(bundle);
  return due + moreMs;
}
