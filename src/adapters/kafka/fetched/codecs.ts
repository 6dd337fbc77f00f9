/**
 * Kafka's codecs, as written by Java's producer and librdkafka. Output above MOST_UNPACKED_BYTES is refused before it is in
 * memory: a batch of 1 MiB may claim gigabytes.
 */
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { Decompress } from 'fzstd';
import { decompressFrame } from 'lz4-napi';
import { uncompress } from 'snappy';
import { forEachInSlices } from '../../../time/in-slices.js';
import { measureZstd, zstdBlocks } from './zstd-work.js';

/** Kafka's default limit for a whole batch, compressed, is 1 MiB. */
export const MOST_UNPACKED_BYTES = 32 * 1024 * 1024;

/**
 * Hazard: Node decompresses 16 KiB per turn of the event loop. In a busy process MOST_UNPACKED_BYTES took 7 to 10 s, longer
 * than the session timeout: the group removed the member, and its records were redelivered.
 */
const BYTES_A_TURN = 256 * 1024;
const LIMITS = { maxOutputLength: MOST_UNPACKED_BYTES, chunkSize: BYTES_A_TURN };

/** Indexed by the codec number in a batch's attributes. */
export const CODEC_NAMES = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const;

type Zstd = (packed: Buffer, options: typeof LIMITS) => Promise<Buffer>;

const gunzip = promisify<Buffer, zlib.ZlibOptions, Buffer>(zlib.gunzip);
/** Built into Node since 22.15. */
const ownZstd = (zlib as unknown as { zstdDecompress?: Parameters<typeof promisify>[0] }).zstdDecompress;
const zstdOfNode = ownZstd ? (promisify(ownZstd) as unknown as Zstd) : null;

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

async function gzip(packed: Buffer): Promise<Buffer> {
  return ownMemory(await gunzip(packed, LIMITS));
}

/** A view smaller than one turn's bytes would keep the whole buffer in memory as long as one of its records waits. */
function ownMemory(unpacked: Buffer): Buffer {
  return unpacked.length < BYTES_A_TURN ? Buffer.from(unpacked) : unpacked;
}

const XERIAL = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00]);
/** Magic, version, and the oldest compatible version. */
const XERIAL_HEADER_BYTES = 16;

/** snappy-java fills blocks of 32 KiB. Each is a task of Node's thread pool: 200,000 empty ones occupied it for 16 s. */
const MAX_BLOCKS = 10_000;

/** Java frames its blocks like snappy-java, each with its size, u32 BE; librdkafka writes a single block without a frame. */
async function snappy(packed: Buffer): Promise<Buffer> {
  const isFramed = packed.subarray(0, XERIAL.length).equals(XERIAL);
  const blocks = isFramed ? [...xerialBlocks(packed)] : [packed];
  if (blocks.length > MAX_BLOCKS) throw new Error(`it has more than ${MAX_BLOCKS} blocks`);
  mustFit(blocks.reduce((sum, block) => sum + snappyLength(block), 0));
  const unpacked = blocks.map((block) => uncompress(block, { asBuffer: true }) as Promise<Buffer>);
  return Buffer.concat(await Promise.all(unpacked));
}

function* xerialBlocks(packed: Buffer): Iterable<Buffer> {
  for (let at = XERIAL_HEADER_BYTES; at < packed.length; ) {
    const end = at + 4 + packed.readUInt32BE(at);
    if (end > packed.length) throw new Error('a block is cut short');
    yield packed.subarray(at + 4, end);
    at = end;
  }
}

/** A block starts with its uncompressed length, a varint of 32 bits. */
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

/** The limit of libzstd, which Node's own decoder has too: level 22 has this window. */
const MAX_WINDOW_BYTES = 128 * 1024 * 1024;
/** 0.2 s. The most unpacked bytes, in full blocks with the window of level 19 (8 MiB), take half of that. */
const MAX_MOVED_BYTES = 4 * 1024 * 1024 * 1024;

/** In slices: 32 MiB take 100 ms and more. Exported for the tests: newer Node versions use the other one. */
export async function zstdByBlocks(packed: Buffer): Promise<Buffer> {
  const { largestWindow, moved } = measureZstd(packed);
  if (largestWindow > MAX_WINDOW_BYTES) throw new Error(`its window has more than ${MAX_WINDOW_BYTES} bytes`);
  if (moved > MAX_MOVED_BYTES) throw new Error('it has too many blocks for its window');
  const chunks: Uint8Array[] = [];
  let length = 0;
  const stream = new Decompress((chunk) => {
    length += chunk.length;
    mustFit(length);
    chunks.push(chunk);
  });
  let at = 0;
  await forEachInSlices(zstdBlocks(packed), ({ end }) => {
    stream.push(packed.subarray(at, end));
    at = end;
    return true;
  });
  stream.push(packed.subarray(at), true);
  return Buffer.concat(chunks, length);
}

function mustFit(bytes: number): void {
  if (bytes > MOST_UNPACKED_BYTES) throw new Error(`it unpacks to more than ${MOST_UNPACKED_BYTES} bytes`);
}

const MAGIC = 0x184d2204;
const HAS_CONTENT_SIZE = 0x08;
const HAS_DICTIONARY = 0x01;
const HAS_BLOCK_CHECKSUMS = 0x10;
const IS_STORED = 0x80000000;
/** The most bytes that one byte of a block can expand to. */
const MOST_RATIO = 255;

/**
 * Upper bound of an LZ4 frame's uncompressed size, without decompressing: the library decompresses a whole frame, however
 * large the result. Source: the LZ4 frame format, 1.6.x: magic, FLG, BD, [content size], [dictionary], header checksum,
 * blocks, end mark, [content checksum]. A block is u32 LE of its size (top bit: stored), its bytes, [block checksum].
 * @throws RangeError if the frame is truncated, Error if it is not an LZ4 frame
 */
function mostUnpackedBytes(frame: Buffer): number {
  if (frame.readUInt32LE(0) !== MAGIC) throw new Error('it is not an LZ4 frame');
  const flags = frame.readUInt8(4);
  const blockMost = 1 << (8 + 2 * ((frame.readUInt8(5) >> 4) & 7));
  const checksum = flags & HAS_BLOCK_CHECKSUMS ? 4 : 0;
  let at = 7 + (flags & HAS_CONTENT_SIZE ? 8 : 0) + (flags & HAS_DICTIONARY ? 4 : 0);
  let most = 0;
  for (let head = frame.readUInt32LE(at); head !== 0; head = frame.readUInt32LE(at)) {
    const size = head & ~IS_STORED;
    most += head >= IS_STORED ? size : Math.min(blockMost, MOST_RATIO * size);
    at += 4 + size + checksum;
  }
  return most;
}
