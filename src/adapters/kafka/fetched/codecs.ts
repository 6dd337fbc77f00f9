/**
 * Kafka's codecs, as Java's producer and librdkafka write them. What unpacks to more than MOST_UNPACKED_BYTES is refused
 * before it is in memory: a batch of 1 MiB may claim gigabytes.
 */
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { Decompress } from 'fzstd';
import kafkajs from 'kafkajs';
import { decompressFrame } from 'lz4-napi';
import { uncompress } from 'snappy';
import { mostUnpackedBytes } from './lz4-frame.js';

/** Kafka's default for a whole batch, packed, is 1 MiB. */
export const MOST_UNPACKED_BYTES = 32 * 1024 * 1024;

/**
 * Hazard: Node unpacks 16 KiB for each turn of the event loop. In a busy process MOST_UNPACKED_BYTES took 7 to 10 s, longer
 * than a member of a group may be silent: it was put out, and what it had handed out was handed out again.
 */
const BYTES_A_TURN = 256 * 1024;
const LIMITS = { maxOutputLength: MOST_UNPACKED_BYTES, chunkSize: BYTES_A_TURN };

/** By their number in a batch's attributes. */
export const CODEC_NAMES = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const;

type Zstd = (packed: Buffer, options: typeof LIMITS) => Promise<Buffer>;

const gunzip = promisify<Buffer, zlib.ZlibOptions, Buffer>(zlib.gunzip);
/** Node's own has it from 22.15 on. */
const ownZstd = (zlib as unknown as { zstdDecompress?: Parameters<typeof promisify>[0] }).zstdDecompress;
const zstdOfNode = ownZstd ? (promisify(ownZstd) as unknown as Zstd) : null;

/** @param codec by its place in CODEC_NAMES */
export async function unpack(codec: number, packed: Buffer): Promise<Buffer> {
  switch (CODEC_NAMES[codec]) {
    case 'none':
      return packed;
    case 'gzip':
      return gzip(packed);
    case 'snappy':
      return snappy(packed);
    case 'lz4':
      return lz4(packed);
    case 'zstd':
      return zstd(packed);
    default:
      throw new Error('its codec is unknown');
  }
}

/** For messages of before Kafka 0.11, which kafkajs decodes. Its own codecs are gzip, without a limit. */
export function installCodecs(): void {
  const { CompressionTypes: types, CompressionCodecs: codecs } = kafkajs;
  const { compress } = codecs[types.GZIP]();
  codecs[types.GZIP] = () => ({ compress, decompress: gzip });
  codecs[types.Snappy] = () => ({ decompress: snappy });
  codecs[types.LZ4] = () => ({ decompress: lz4 });
  codecs[types.ZSTD] = () => ({ decompress: zstd });
}

async function gzip(packed: Buffer): Promise<Buffer> {
  return ownMemory(await gunzip(packed, LIMITS));
}

/** What is smaller than a turn's bytes would keep all of them in memory as long as a record of it waits. */
function ownMemory(unpacked: Buffer): Buffer {
  return unpacked.length < BYTES_A_TURN ? Buffer.from(unpacked) : unpacked;
}

const XERIAL = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00]);
/** Magic, version, and the oldest version that reads it. */
const XERIAL_HEADER_BYTES = 16;

/** Java frames its blocks as snappy-java does, each with its size, u32 BE; librdkafka writes one block, bare. */
async function snappy(packed: Buffer): Promise<Buffer> {
  if (!packed.subarray(0, XERIAL.length).equals(XERIAL)) return snappyBlocks([packed]);
  const blocks: Buffer[] = [];
  for (let at = XERIAL_HEADER_BYTES; at < packed.length; ) {
    const end = at + 4 + packed.readUInt32BE(at);
    if (end > packed.length) throw new Error('a block is cut short');
    blocks.push(packed.subarray(at + 4, end));
    at = end;
  }
  return snappyBlocks(blocks);
}

async function snappyBlocks(blocks: readonly Buffer[]): Promise<Buffer> {
  mustFit(blocks.reduce((sum, block) => sum + snappyLength(block), 0));
  return Buffer.concat(
    await Promise.all(blocks.map((block) => uncompress(block, { asBuffer: true }) as Promise<Buffer>)),
  );
}

/** A block begins with its unpacked length, a varint of 32 bits. */
function snappyLength(block: Buffer): number {
  let length = 0;
  for (let at = 0; at < 5; at += 1) {
    const byte = block.readUInt8(at);
    length += (byte & 0x7f) * 2 ** (7 * at);
    if (byte < 0x80) return length;
  }
  throw new Error('a block has no length');
}

async function lz4(packed: Buffer): Promise<Buffer> {
  mustFit(mostUnpackedBytes(packed));
  return decompressFrame(packed);
}

async function zstd(packed: Buffer): Promise<Buffer> {
  return zstdOfNode ? ownMemory(await zstdOfNode(packed, LIMITS)) : zstdByBlocks(packed);
}

/** Exported for the tests: on a newer Node the other one is used. */
export function zstdByBlocks(packed: Buffer): Buffer {
  mustFit(zstdWindow(packed));
  const chunks: Uint8Array[] = [];
  let length = 0;
  const stream = new Decompress((chunk) => {
    length += chunk.length;
    mustFit(length);
    chunks.push(chunk);
  });
  stream.push(packed, true);
  return Buffer.concat(chunks, length);
}

/** What a frame makes its decoder hold, bytes: its window, or all of it. RFC 8878, 3.1.1.1. */
function zstdWindow(frame: Buffer): number {
  const descriptor = frame.readUInt8(4);
  const isWhole = (descriptor & 0x20) !== 0;
  if (!isWhole) return 2 ** (10 + (frame.readUInt8(5) >> 3)) * (1 + (frame.readUInt8(5) & 7) / 8);
  const at = 5 + ([0, 1, 2, 4][descriptor & 3] ?? 0);
  switch (descriptor >> 6) {
    case 0:
      return frame.readUInt8(at);
    case 1:
      return frame.readUInt16LE(at) + 256;
    case 2:
      return frame.readUInt32LE(at);
    default:
      return Number(frame.readBigUInt64LE(at));
  }
}

function mustFit(bytes: number): void {
  if (bytes > MOST_UNPACKED_BYTES) throw new Error(`it unpacks to more than ${MOST_UNPACKED_BYTES} bytes`);
}
