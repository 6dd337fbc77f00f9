/** Kafka's codecs on what other programs packed, on what is damaged, and on what unpacks to too much. */
import { readdirSync, readFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import kafkajs from 'kafkajs';
import { compressFrameSync } from 'lz4-napi';
import { compressSync } from 'snappy';
import { MOST_UNPACKED_BYTES, unpack, zstdByBlocks } from '../../../src/adapters/kafka/fetched/codecs.js';
import { spin } from '../../support/clocks/spin.js';
import { countTicks } from './count-ticks.js';
import { PAYLOAD } from './packed-payload.js';

const { GZIP, Snappy, LZ4, ZSTD } = kafkajs.CompressionTypes;
const FOLDER = new URL('packed/', import.meta.url);
const packed = (name: string) => readFileSync(new URL(name, FOLDER));
const filesOf = (codec: string) => readdirSync(FOLDER).filter((name) => name.startsWith(`${codec}-`));
const ZEROS = Buffer.alloc(MOST_UNPACKED_BYTES + 1);
/** In the words of this service, of Node, and of libzstd. */
const TOO_MUCH = /more than \d+ bytes|larger than|too much memory/;

/** Of a process that is busy. */
const TURN_MS = 3;
/** With 16 KiB a turn they are twice as many. */
const MANY_TURNS = 1_000;

/** As snappy-java frames what it packs: a header of 16 bytes, then blocks with their lengths. */
function xerial(...blocks: readonly Buffer[]): Buffer {
  const header = Buffer.from('82534e41505059000000000100000001', 'hex');
  const framed = blocks.flatMap((block) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(block.length);
    return [length, block];
  });
  return Buffer.concat([header, ...framed]);
}

const halves = [PAYLOAD.subarray(0, 70_000), PAYLOAD.subarray(70_000)].map((half) => compressSync(half));
const SAMPLES: readonly (readonly [name: string, codec: kafkajs.CompressionTypes, bytes: Buffer])[] = [
  ['gzip', GZIP, gzipSync(PAYLOAD)],
  [
    'gzip in two members',
    GZIP,
    Buffer.concat([PAYLOAD.subarray(0, 9), PAYLOAD.subarray(9)].map((part) => gzipSync(part))),
  ],
  ['snappy, raw, as librdkafka', Snappy, compressSync(PAYLOAD)],
  ['snappy in blocks, as snappy-java', Snappy, xerial(...halves)],
  ...filesOf('lz4').map((name) => [name, LZ4, packed(name)] as const),
  ...filesOf('zstd').map((name) => [name, ZSTD, packed(name)] as const),
];

test.each(SAMPLES)('%s is unpacked', async (_, codec, bytes) => {
  expect((await unpack(codec, bytes)).equals(PAYLOAD)).toBe(true);
});

test.each(filesOf('zstd'))('%s is unpacked on a Node without zstd', async (name) => {
  expect((await zstdByBlocks(packed(name))).equals(PAYLOAD)).toBe(true);
});

describe('what unpacks to more than a batch may is refused', () => {
  const bombs: readonly (readonly [name: string, codec: kafkajs.CompressionTypes, bytes: Buffer])[] = [
    ['gzip', GZIP, gzipSync(ZEROS)],
    ['snappy', Snappy, compressSync(ZEROS)],
    ['snappy in blocks', Snappy, xerial(...Array(5).fill(compressSync(Buffer.alloc(MOST_UNPACKED_BYTES / 4))))],
    ['lz4', LZ4, compressFrameSync(ZEROS)],
    ['zstd', ZSTD, packed('bomb-zstd-streamed')],
    ['zstd that says so', ZSTD, packed('bomb-zstd-content-size')],
  ];

  test.each(bombs)('%s', async (_, codec, bytes) => {
    await expect(unpack(codec, bytes)).rejects.toThrow(TOO_MUCH);
  });

  test.each(bombs)(
    '%s, in a busy process too: within turns of its event loop that are few',
    async (_, codec, bytes) => {
      let isRefused = false;
      const refusing = unpack(codec, bytes).catch(() => {
        isRefused = true;
      });
      let turns = 0;
      for (; !isRefused && turns < MANY_TURNS; turns += 1) {
        spin(TURN_MS);
        await nextTurn();
      }
      await refusing;
      expect(turns).toBeLessThan(MANY_TURNS);
    },
  );

  test.each(bombs.slice(4))('%s, on a Node without zstd', async (_, _codec, bytes) => {
    await expect(zstdByBlocks(bytes)).rejects.toThrow(TOO_MUCH);
  });
});

test('the most that a batch may unpack to is unpacked in many ticks of the event loop, on a Node without zstd', async () => {
  const fullBlock = Buffer.from([0x02, 0, 0x10, 0x41]);
  const count = MOST_UNPACKED_BYTES / (128 * 1024);
  const header = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 0x68]);
  const bytes = Buffer.concat([header, ...Array<Buffer>(count).fill(fullBlock), Buffer.from([0x01, 0, 0])]);
  const { ticks, result } = await countTicks(zstdByBlocks(bytes));
  expect(result).toHaveLength(MOST_UNPACKED_BYTES);
  expect(ticks).toBeGreaterThan(3);
});

describe('a batch of many tiny blocks', () => {
  const MANY = 50_000;
  const frame = (descriptor: number, window: number, count: number) => {
    const oneByte = Buffer.from([0x0a, 0, 0, 0x41]);
    const last = Buffer.from([0x01, 0, 0]);
    const header = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, descriptor, window]);
    return Buffer.concat([header, ...Array<Buffer>(count).fill(oneByte), last]);
  };
  const TWO_MIB = 0x58;
  const ONE_GIB = 0xa0;

  it('is rejected, in snappy', async () => {
    const empty = Buffer.from([0]);
    await expect(unpack(Snappy, xerial(...Array<Buffer>(MANY).fill(empty)))).rejects.toThrow('more than 10000 blocks');
  });

  it('is rejected by a Node without zstd', async () => {
    await expect(zstdByBlocks(frame(0, TWO_MIB, MANY))).rejects.toThrow('too many blocks for its window');
  });

  it('is rejected by a Node without zstd if another frame or a skippable one comes first', async () => {
    const skippable = Buffer.from([0x5a, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 9, 9]);
    const frames = Buffer.concat([skippable, frame(0, TWO_MIB, 3), frame(0, TWO_MIB, MANY)]);
    await expect(zstdByBlocks(frames)).rejects.toThrow('too many blocks for its window');
  });

  it('is unpacked if its window is small', async () => {
    expect((await zstdByBlocks(frame(0, 0, 1_000))).equals(Buffer.alloc(1_000, 'A'))).toBe(true);
  });

  it('takes no memory for a window of a gigabyte', async () => {
    await expect(zstdByBlocks(frame(0, ONE_GIB, 1))).rejects.toThrow('more than 134217728 bytes');
  });
});

test.each(SAMPLES)(
  '%s: what is damaged is refused or unpacked to a bounded length, and never hangs',
  async (_, codec, bytes) => {
    const damage = fc.record({ at: fc.nat(bytes.length - 1), to: fc.nat(255), cut: fc.option(fc.nat(bytes.length)) });
    const property = fc.asyncProperty(damage, async ({ at, to, cut }) => {
      const damaged = Buffer.from(bytes);
      damaged[at] = to;
      const unpacked = await unpack(codec, damaged.subarray(0, cut ?? bytes.length)).catch(() => null);
      expect(unpacked?.length ?? 0).toBeLessThanOrEqual(MOST_UNPACKED_BYTES);
    });
    await fc.assert(property, { numRuns: 60 });
  },
);
