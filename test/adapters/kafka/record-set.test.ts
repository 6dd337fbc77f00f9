/** Batches as a partition holds them, damaged in every place: what is damaged is told, and what stands beside it is read. */
import { createRequire } from 'node:module';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import kafkajs from 'kafkajs';
import { isPassed, isUnreadable } from '../../../src/adapters/kafka/fetched/marks.js';
import { beginsWithBatch, type Fetched, messagesOf } from '../../../src/adapters/kafka/fetched/record-set.js';
import { crc32c } from '../../../src/adapters/kafka/kafkajs-repairs/kafkajs-internals.js';
import { fromMessages } from '../../../src/adapters/kafka/records.js';
import { NO_TIME, type ReceivedRecord } from '../../../src/ports/broker.js';
import { countTicks } from './count-ticks.js';

/** kafkajs' own encoder. */
const require = createRequire(import.meta.url);
const { RecordBatch } = require('kafkajs/src/protocol/recordBatch/v0') as {
  RecordBatch(of: object): Promise<{ buffer: Buffer }>;
};
const Record = require('kafkajs/src/protocol/recordBatch/record/v0') as (of: object) => unknown;

const { GZIP } = kafkajs.CompressionTypes;
const BASE_OFFSET_AT = 0;
const LENGTH_AT = 8;
const LEADER_EPOCH_AT = 12;
const MAGIC_AT = 16;
const CRC_AT = 17;
const ATTRIBUTES_AT = 21;
const LAST_DELTA_AT = 23;
const FIRST_TIMESTAMP_AT = 27;
const PRODUCER_AT = 43;
const COUNT_AT = 57;
const RECORDS_AT = 61;
const IN_TRANSACTION = 0x10;
const CONTROL = 0x20;
const MILLISECONDS = 1_795_000_000_123n;
const NANOSECONDS = MILLISECONDS * 1_000_000n;
/** Neighbours of a time in nanoseconds, in a double. */
const QUARTER_OF_A_SECOND_MS = 256;

type Headers = Readonly<Record<string, string | readonly string[]>>;

async function batch(
  first: number,
  values: readonly string[],
  compression = 0,
  headers: Headers = {},
): Promise<Buffer> {
  const records = values.map((value, offsetDelta) =>
    Record({ offsetDelta, timestampDelta: 7, key: null, value: Buffer.from(value), headers }),
  );
  const of = { compression, firstOffset: first, lastOffsetDelta: values.length - 1, firstTimestamp: 1_700_000_000_000 };
  const encoded = await RecordBatch({ ...of, maxTimestamp: 1_700_000_000_007, records });
  // The encoder writes no offset of a broker's.
  const bytes = Buffer.from(encoded.buffer);
  bytes.writeBigInt64BE(BigInt(first), BASE_OFFSET_AT);
  return bytes;
}

/** The checksum again, for what is wrong otherwise. */
function resealed(bytes: Buffer): Buffer {
  bytes.writeUInt32BE(crc32c(bytes.subarray(ATTRIBUTES_AT)) >>> 0, CRC_AT);
  return bytes;
}

/** A batch with these bytes for its records. */
async function withRecords(records: Buffer, count: number, compression = 0): Promise<Buffer> {
  const header = (await batch(0, ['a'])).subarray(0, RECORDS_AT);
  const bytes = Buffer.concat([header, records]);
  bytes.writeInt32BE(bytes.length - LEADER_EPOCH_AT, LENGTH_AT);
  bytes.writeInt16BE(compression, ATTRIBUTES_AT);
  bytes.writeInt32BE(count, COUNT_AT);
  return resealed(bytes);
}

async function ofProducer(producer: number, bytes: Buffer, attributes = IN_TRANSACTION): Promise<Buffer> {
  bytes.writeInt16BE(attributes, ATTRIBUTES_AT);
  bytes.writeBigInt64BE(BigInt(producer), PRODUCER_AT);
  return resealed(bytes);
}

/** What ends a transaction. */
async function marker(first: number, producer: number, type: 'abort' | 'commit'): Promise<Buffer> {
  const key = Buffer.from([0, 0, 0, type === 'abort' ? 0 : 1]);
  const record = Record({ offsetDelta: 0, timestampDelta: 0, key, value: Buffer.alloc(6), headers: {} });
  const encoded = await RecordBatch({ firstOffset: first, lastOffsetDelta: 0, maxTimestamp: 0, records: [record] });
  const bytes = Buffer.from(encoded.buffer);
  bytes.writeBigInt64BE(BigInt(first), BASE_OFFSET_AT);
  return ofProducer(producer, bytes, IN_TRANSACTION | CONTROL);
}

const fetchedAs = (of: Partial<Fetched> = {}): Fetched => ({
  ...{ from: 0, end: 1_000, aborted: [], budget: { bytes: 1024 * 1024 } },
  ...of,
});

async function read(set: Buffer, of: Partial<Fetched> = {}): Promise<string[]> {
  const messages = await messagesOf(set, fetchedAs(of));
  return messages.map((message) => {
    if (isPassed(message)) return `passed ${message.offset}`;
    if (!isUnreadable(message)) return `${message.offset} ${message.value}`;
    const { first, last, codec, reason } = message.unreadable;
    return `${first} to ${last}, ${codec}: ${reason}`;
  });
}

describe('what is sound is read', () => {
  test('packed or not, one batch after the other', async () => {
    const set = Buffer.concat([await batch(5, ['a', 'b']), await batch(7, ['c'], GZIP)]);
    expect(await read(set)).toEqual(['5 a', '6 b', '7 c']);
  });

  test('a batch that did not come whole is left for the next fetch', async () => {
    const [first, second] = [await batch(0, ['a']), await batch(1, ['b'])];
    for (let cut = 0; cut < second.length; cut += 1) {
      expect(await read(Buffer.concat([first, second.subarray(0, cut)]))).toEqual(['0 a']);
    }
  });

  test('what compaction has taken is passed: a tail, and all of it', async () => {
    const tail = await batch(0, ['a']);
    tail.writeInt32BE(4, LAST_DELTA_AT);
    const none = (await batch(5, ['b'])).subarray(0, RECORDS_AT);
    none.writeInt32BE(RECORDS_AT - LEADER_EPOCH_AT, LENGTH_AT);
    none.writeInt32BE(0, COUNT_AT);
    const set = Buffer.concat([resealed(tail), resealed(none), await batch(6, ['c'])]);
    expect(await read(set)).toEqual(['0 a', 'passed 4', 'passed 5', '6 c']);
  });

  test.each([
    ['the first of a batch', [NANOSECONDS, MILLISECONDS, MILLISECONDS + 5n]],
    ['one within a batch', [MILLISECONDS, NANOSECONDS, MILLISECONDS + 5n]],
  ])('a record that is stamped in nanoseconds costs its own time, and no other: %s', async (_, timestamps) => {
    const messages = await messagesOf(await stamped(timestamps), fetchedAs());
    const records = fromMessages({ topic: 't', partition: 0 }, messages);
    const isTime = (time: bigint) => time >= 0n && time < NANOSECONDS;
    for (const [n, time] of timestamps.entries()) {
      const { timestamp } = records[n] as ReceivedRecord;
      expect(Math.abs(timestamp - (isTime(time) ? Number(time) : NO_TIME))).toBeLessThanOrEqual(QUARTER_OF_A_SECOND_MS);
    }
  });

  test('a batch of 500,000 records is decoded in many ticks of the event loop', async () => {
    const count = 500_000;
    const empty = Buffer.from([0x0c, 0, 0, 0, 0x01, 0x01, 0]);
    const set = await withRecords(Buffer.concat(Array<Buffer>(count).fill(empty)), count);
    const { ticks, result } = await countTicks(messagesOf(set, fetchedAs()));
    expect(result).toHaveLength(count);
    expect(ticks).toBeGreaterThan(3);
  });

  test('a record of 499,999 headers is decoded in many ticks of the event loop', async () => {
    const fields = Buffer.concat([
      Buffer.from([0, 0, 0, 0x01, 0x01, 0xbe, 0x84, 0x3d]),
      Buffer.alloc(2 * 499_999, '\0\x01'),
    ]);
    const length = Buffer.from([0x8c, 0x89, 0x7a]);
    const set = await withRecords(Buffer.concat([length, fields]), 1);
    const { ticks, result } = await countTicks(messagesOf(set, fetchedAs()));
    expect(result).toMatchObject([{ headerList: { length: 499_999 } }]);
    expect(ticks).toBeGreaterThan(3);
  });

  test('what one fetch may hold counts 256 bytes for each header', async () => {
    const headers = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`h${n}`, '']));
    const set = Buffer.concat(await Promise.all([0, 1, 2].map((first) => batch(first, ['v'], 0, headers))));
    const budget = { bytes: 150_000 };
    expect((await messagesOf(set, fetchedAs({ budget }))).map(({ offset }) => offset)).toEqual(['0', '1']);
  });
});

/** Records without key and value, stamped so: as the distance from the first, which the header has. */
async function stamped([first = 0n, ...rest]: readonly bigint[]): Promise<Buffer> {
  const records = [first, ...rest].map((timestamp, index) => {
    const body = [0, ...zigzag(BigInt.asIntN(64, timestamp - first)), ...zigzag(BigInt(index)), 1, 1, 0];
    return Buffer.from([...zigzag(BigInt(body.length)), ...body]);
  });
  const bytes = await withRecords(Buffer.concat(records), records.length);
  bytes.writeInt32BE(rest.length, LAST_DELTA_AT);
  bytes.writeBigInt64BE(first, FIRST_TIMESTAMP_AT);
  return resealed(bytes);
}

/** Seven bits a byte, lowest first. */
function zigzag(number: bigint): number[] {
  const bytes: number[] = [];
  for (let left = BigInt.asUintN(64, (number << 1n) ^ (number >> 63n)); ; left >>= 7n) {
    if (left < 128n) return [...bytes, Number(left)];
    bytes.push(Number(left % 128n) + 128);
  }
}

/** One record with so many headers, each a name of one byte and no value. */
async function manyHeaders(count: number): Promise<Buffer> {
  const varint = (value: number): number[] => {
    const zigzag = value * 2;
    const bytes: number[] = [];
    for (let rest = zigzag; ; rest = Math.floor(rest / 128)) {
      if (rest < 128) return [...bytes, rest];
      bytes.push((rest % 128) + 128);
    }
  };
  const headers = Buffer.alloc(3 * count);
  for (let n = 0; n < count; n += 1) headers.set([2, 0x61, 0], 3 * n);
  const body = Buffer.concat([Buffer.from([0, 0, 0, 1, 1, ...varint(count)]), headers]);
  return withRecords(Buffer.concat([Buffer.from(varint(body.length)), body]), 1);
}

describe('transactions', () => {
  const aborted = [
    { producerId: 2n, firstOffset: 1 },
    { producerId: 1n, firstOffset: 0 },
  ];

  test('what was aborted is passed, whoever else writes in between; what was committed is read', async () => {
    const set = Buffer.concat([
      await ofProducer(1, await batch(0, ['aborted'])),
      await ofProducer(2, await batch(1, ['aborted', 'aborted'])),
      await ofProducer(3, await batch(3, ['committed'])),
      await marker(4, 1, 'abort'),
      await ofProducer(1, await batch(5, ['committed'])),
      await ofProducer(2, await batch(6, ['aborted'])),
      await marker(7, 2, 'abort'),
      await marker(8, 3, 'commit'),
      await batch(9, ['plain']),
    ]);
    const said = await read(set, { aborted });
    expect(said.filter((line) => !line.startsWith('passed'))).toEqual(['3 committed', '5 committed', '9 plain']);
    expect(said).toHaveLength(9);
  });

  test('a marker that is damaged ends the set: what is behind it can not be told', async () => {
    const damaged = await marker(1, 1, 'abort');
    damaged[damaged.length - 1] = 0x55;
    const set = Buffer.concat([
      await ofProducer(1, await batch(0, ['aborted'])),
      damaged,
      await ofProducer(1, await batch(2, ['committed'])),
    ]);
    const begun = [{ producerId: 1n, firstOffset: 0 }];
    expect(await read(set, { aborted: begun })).toEqual(['passed 0', '1 to 1, none: its checksum does not match']);
    // As it is fetched once that was passed.
    expect(await read(set.subarray(set.length - (await batch(2, ['committed'])).length), { from: 2 })).toEqual([
      '2 committed',
    ]);
  });
});

describe('what can not be read is one mark, and the end of its set', () => {
  const around = async (damaged: Buffer, of: Partial<Fetched> = {}) =>
    read(Buffer.concat([await batch(0, ['a']), damaged, await batch(4, ['z'])]), of);

  test.each([
    ['a codec that is unknown', 5, 'number 5: its codec is unknown'],
    ['bytes that are no gzip', GZIP, 'gzip: incorrect header check'],
    ['bytes that are no snappy', 2, /^snappy: \S/],
    ['bytes that are no lz4', 3, 'lz4: it is not an LZ4 frame'],
    ['bytes that are no zstd', 4, /^zstd: \S/],
  ])('%s', async (_, codec, says) => {
    const bytes = await batch(1, ['b'.repeat(50), 'c', 'd']);
    bytes.writeInt16BE(codec, ATTRIBUTES_AT);
    const [, mark = '', ...more] = await around(resealed(bytes));
    expect(mark.replace('1 to 3, ', '')).toMatch(says);
    expect(more).toEqual([]);
  });

  test.each([
    ['fewer records than it says', Buffer.from([]), 1, 'a number is cut short'],
    ['more than its records', Buffer.from([12, 0, 0, 0, 1, 1, 0, 0]), 1, 'it has data after its last record'],
    ['a record that is longer than the batch', Buffer.from([100, 0, 0, 0]), 1, 'a record is cut short'],
    ['a record of another length', Buffer.from([14, 0, 0, 0, 1, 1, 0, 0]), 1, 'a record has a wrong length'],
    ['a value that is longer than the batch', Buffer.from([12, 0, 0, 0, 1, 100, 0]), 1, 'a field is cut short'],
    ['a number without an end', Buffer.alloc(20, 0xff), 1, 'cut short, or too large'],
    ['an offset of another batch', Buffer.from([12, 0, 0, 2, 1, 1, 0]), 1, 'an offset of another batch'],
    ['a header without a name', Buffer.from([16, 0, 0, 0, 1, 1, 2, 1, 0]), 1, 'a header has no name'],
    ['less than no headers', Buffer.from([12, 0, 0, 0, 1, 1, 1]), 1, 'a negative number of headers'],
  ])('%s', async (_, records, count, says) => {
    expect((await read(await withRecords(records, count)))[0]).toContain(says);
  });

  test('more records and headers than a batch may have, packed small', async () => {
    const empty = Buffer.from([12, 0, 0, 0, 1, 1, 0]);
    const packed = gzipSync(Buffer.alloc(600_000 * empty.length, empty));
    expect((await read(await withRecords(packed, 600_000, GZIP)))[0]).toContain('more than 500000 records and headers');
    expect((await read(await manyHeaders(600_000)))[0]).toContain('more than 500000 records and headers');
  });

  test.each([0, 1, 9])('a format that is not of Kafka 0.11 and later: %i', async (magic) => {
    const bytes = await batch(1, ['b', 'c', 'd']);
    bytes.writeInt8(magic, MAGIC_AT);
    expect(await around(bytes)).toEqual(['0 a', `1 to 1, format ${magic}: its format is unknown`]);
  });

  test('whatever byte of it is another one: it is told, and with it no offset of its neighbours', async () => {
    const whole = await batch(1, ['b'.repeat(40), 'c', 'd']);
    const damaged = (at: number, by: number) => {
      const bytes = Buffer.from(whole);
      bytes[at] = (bytes[at] ?? 0) ^ by;
      return bytes;
    };
    const isFree = (at: number) => at >= LENGTH_AT && at < MAGIC_AT;
    const damage = fc
      .record({ at: fc.nat(whole.length - 1), by: fc.integer({ min: 1, max: 255 }) })
      .filter(({ at }) => !isFree(at));
    const property = fc.asyncProperty(damage, async ({ at, by }) => {
      const [first, mark = '', ...more] = await around(damaged(at, by));
      expect([first, more]).toEqual(['0 a', []]);
      expect(mark).toMatch(/^1 to [123], .*: its (checksum|offsets|format) /);
    });
    await fc.assert(property, { numRuns: 300 });
  });

  test('the last offset that a damaged header names is never beyond the count of its records, nor beyond the end', async () => {
    const bytes = await batch(1, ['b', 'c']);
    bytes.writeInt32BE(1_000_000, LAST_DELTA_AT);
    expect(await read(bytes, { from: 1, end: 9 })).toEqual(['1 to 2, none: its checksum does not match']);
    bytes.writeInt32BE(-7, LAST_DELTA_AT);
    expect((await around(bytes))[1]).toMatch(/^1 to 1,/);
    bytes.writeBigInt64BE(500n, BASE_OFFSET_AT);
    expect(await read(bytes, { from: 1, end: 9 })).toEqual(['1 to 1, none: its checksum does not match']);
  });
});

test.each([-1, 0, 3, 1_000_000_000])('a set is refused whose first batch claims a length of %d', async (length) => {
  const bytes = await batch(0, ['a']);
  expect(beginsWithBatch(bytes)).toBe(true);
  bytes.writeInt32BE(length, LENGTH_AT);
  expect(beginsWithBatch(bytes)).toBe(false);
});
