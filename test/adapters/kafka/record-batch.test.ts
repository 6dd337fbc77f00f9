/** Batches as a partition holds them, damaged in every place: what is damaged is told, and what stands beside it is read. */
import { createRequire } from 'node:module';
import { beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { installCodecs } from '../../../src/adapters/kafka/fetched/codecs.js';
import { crc32c } from '../../../src/adapters/kafka/fetched/kafkajs-internals.js';
import { isUnreadable, messagesOf } from '../../../src/adapters/kafka/fetched/record-batch.js';

const require = createRequire(import.meta.url);
const { RecordBatch } = require('kafkajs/src/protocol/recordBatch/v0') as {
  RecordBatch(of: object): Promise<{ buffer: Buffer }>;
};
const Record = require('kafkajs/src/protocol/recordBatch/record/v0') as (of: object) => unknown;
const MessageSet = require('kafkajs/src/protocol/messageSet') as (of: object) => { buffer: Buffer };

const GZIP = 1;
const LENGTH_AT = 8;
const LEADER_EPOCH_AT = 12;
const MAGIC_AT = 16;
const ATTRIBUTES_AT = 21;
const LAST_DELTA_AT = 23;

beforeAll(() => installCodecs());

async function batch(firstOffset: number, values: readonly string[], compression = 0): Promise<Buffer> {
  const records = values.map((value, offsetDelta) =>
    Record({ offsetDelta, timestampDelta: 0, key: null, value: Buffer.from(value), headers: {} }),
  );
  const of = { compression, firstOffset, lastOffsetDelta: values.length - 1, firstTimestamp: 1_700_000_000_000 };
  const encoded = await RecordBatch({ ...of, maxTimestamp: 1_700_000_000_000, records });
  // The encoder writes no offset of a broker's.
  const bytes = Buffer.from(encoded.buffer);
  bytes.writeBigInt64BE(BigInt(firstOffset), 0);
  return bytes;
}

/** The checksum again, for what is wrong otherwise. */
function resealed(bytes: Buffer): Buffer {
  bytes.writeUInt32BE(crc32c(bytes.subarray(ATTRIBUTES_AT)) >>> 0, 17);
  return bytes;
}

async function read(set: Buffer, end = 1_000): Promise<string[]> {
  const messages = await messagesOf(set, end);
  return messages.map((message) => {
    if (!isUnreadable(message)) return `${message.offset} ${message.value}`;
    const { first, last, codec, reason } = message.unreadable;
    return `${first} to ${last}, ${codec}: ${reason}`;
  });
}

test('what is sound is read, packed or not, one batch after the other', async () => {
  const set = Buffer.concat([await batch(5, ['a', 'b']), await batch(7, ['c'], GZIP)]);
  expect(await read(set)).toEqual(['5 a', '6 b', '7 c']);
});

test('a batch that did not come whole is left for the next fetch', async () => {
  const [first, second] = [await batch(0, ['a']), await batch(1, ['b'])];
  for (let cut = 0; cut < second.length; cut += 1) {
    expect(await read(Buffer.concat([first, second.subarray(0, cut)]))).toEqual(['0 a']);
  }
});

test('of before Kafka 0.11 are read, too', async () => {
  const { buffer } = MessageSet({ messageVersion: 1, entries: [{ value: 'old', timestamp: 1_700_000_000_000 }] });
  const old = Buffer.from(buffer);
  old.writeBigInt64BE(3n, 0);
  expect(await read(Buffer.concat([old, await batch(4, ['new'])]))).toEqual(['3 old', '4 new']);
});

describe('what can not be read is one mark, in its place', () => {
  const around = async (damaged: Buffer) =>
    read(Buffer.concat([await batch(0, ['a']), damaged, await batch(4, ['z'])]));

  test.each([
    ['a codec that is unknown', 5, 'number 5: its codec is unknown'],
    ['bytes that are no gzip', GZIP, 'gzip: incorrect header check'],
    ['bytes that are no snappy', 2, /^snappy: \S/],
    ['bytes that are no lz4', 3, 'lz4: it is no LZ4 frame'],
    ['bytes that are no zstd', 4, /^zstd: \S/],
  ])('%s', async (_, codec, says) => {
    const bytes = await batch(1, ['b'.repeat(50), 'c', 'd']);
    bytes.writeInt16BE(codec, ATTRIBUTES_AT);
    const [, mark = ''] = await around(resealed(bytes));
    expect(mark.replace('1 to 3, ', '')).toMatch(says);
  });

  test('records that end too soon', async () => {
    const bytes = await batch(1, ['b', 'c', 'd']);
    bytes.writeInt32BE(4, 57);
    expect((await around(resealed(bytes)))[1]).toMatch(/^1 to 3, none: \S/);
  });

  test('a format that nobody knows', async () => {
    const bytes = await batch(1, ['b', 'c', 'd']);
    bytes.writeInt8(9, MAGIC_AT);
    expect(await around(bytes)).toEqual(['0 a', '1 to 1, format 9: its format is unknown', '4 z']);
  });

  test('whatever byte of it is another one: those beside it are read', async () => {
    const whole = await batch(1, ['b'.repeat(40), 'c', 'd']);
    const damage = fc.record({
      at: fc.integer({ min: MAGIC_AT + 1, max: whole.length - 1 }),
      by: fc.integer({ min: 1, max: 255 }),
    });
    const property = fc.asyncProperty(damage, async ({ at, by }) => {
      const bytes = Buffer.from(whole);
      bytes[at] = (bytes[at] ?? 0) ^ by;
      const [first, mark, last, ...more] = await around(bytes);
      expect([first, last, more]).toEqual(['0 a', '4 z', []]);
      expect(mark).toMatch(/^1 to [123], .*: its checksum does not fit$/);
    });
    await fc.assert(property, { numRuns: 300 });
  });

  test("the last offset that a damaged header names is never another batch's, nor beyond the end", async () => {
    const bytes = await batch(1, ['b']);
    bytes.writeInt32BE(1_000_000, LAST_DELTA_AT);
    expect((await around(bytes))[1]).toMatch(/^1 to 3,/);
    expect(await read(bytes, 9)).toEqual(['1 to 8, none: its checksum does not fit']);
    bytes.writeInt32BE(-7, LAST_DELTA_AT);
    expect((await around(bytes))[1]).toMatch(/^1 to 1,/);
  });

  test('its digest is the same under another leader, and another one for other bytes', async () => {
    const digest = async (bytes: Buffer) => {
      const [message] = await messagesOf(bytes, 1_000);
      return message && isUnreadable(message) ? message.unreadable.digest : null;
    };
    const bytes = await batch(1, ['b']);
    bytes[bytes.length - 1] = 0x41;
    const before = await digest(bytes);
    bytes.writeInt32BE(77, LEADER_EPOCH_AT);
    expect(await digest(bytes)).toBe(before);
    bytes[bytes.length - 2] = 0x41;
    expect(await digest(bytes)).not.toBe(before);
    expect(before).toMatch(/^[0-9a-f]{32}$/);
  });
});

test('a length that is nonsense keeps what follows from being read: that is told', async () => {
  const bytes = await batch(0, ['a']);
  for (const length of [-1, 0, 3, 1_000_000_000]) {
    bytes.writeInt32BE(length, LENGTH_AT);
    expect(await read(bytes)).toEqual([
      `${Number.MAX_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}, unknown: a batch has no sound length`,
    ]);
  }
});
