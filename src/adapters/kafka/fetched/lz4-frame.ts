/**
 * Upper bound of an LZ4 frame's uncompressed size, without decompressing: the library decompresses a whole frame, however
 * large the result. Source: the LZ4 frame format, 1.6.x: magic, FLG, BD, [content size], [dictionary], header checksum,
 * blocks, end mark, [content checksum]. A block is u32 LE of its size (top bit: stored), its bytes, [block checksum].
 */
const MAGIC = 0x184d2204;
const HAS_CONTENT_SIZE = 0x08;
const HAS_DICTIONARY = 0x01;
const HAS_BLOCK_CHECKSUMS = 0x10;
const IS_STORED = 0x80000000;
/** The most bytes that one byte of a block can expand to. */
const MOST_RATIO = 255;

/** @throws RangeError if the frame is truncated, Error if it is not an LZ4 frame */
export function mostUnpackedBytes(frame: Buffer): number {
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
