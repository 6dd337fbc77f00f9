/**
 * What fzstd will do for a Zstandard text, read from its headers alone. Format: RFC 8878, sections 3.1.1 and 3.1.2.
 *
 * Hazard: after each block, fzstd moves its whole window, of a size that the frame claims. A batch of 1 MiB may have 260,000
 * blocks of one byte: with a window of 2 MiB that took 26 s of the event loop, and a claimed gigabyte became resident.
 */
const FRAME_MAGIC = 0xfd2fb528;
const SKIPPABLE_MAGIC = 0x184d2a50;
const SKIPPABLE_MASK = 0xfffffff0;
const DICTIONARY_BYTES = [0, 1, 2, 4] as const;
const CONTENT_SIZE_BYTES = [0, 2, 4, 8] as const;
const RLE = 1;

/** Each in bytes. */
export interface ZstdWork {
  readonly largestWindow: number;
  /** Sum of the windows of all blocks. */
  readonly moved: number;
}

/** @throws RangeError if the text is cut short, Error if it is not Zstandard */
export function measureZstd(packed: Buffer): ZstdWork {
  let largestWindow = 0;
  let moved = 0;
  for (const { window } of zstdBlocks(packed)) {
    largestWindow = Math.max(largestWindow, window);
    moved += window;
  }
  return { largestWindow, moved };
}

interface ZstdBlock {
  /** Of its frame. */
  readonly window: number;
  /** Where the next block, or what follows its frame, begins. */
  readonly end: number;
}

/** The blocks of all frames, in their order. @throws as measureZstd */
export function* zstdBlocks(packed: Buffer): Iterable<ZstdBlock> {
  for (let at = 0; at < packed.length; ) {
    if ((packed.readUInt32LE(at) & SKIPPABLE_MASK) >>> 0 === SKIPPABLE_MAGIC) {
      at += 8 + packed.readUInt32LE(at + 4);
      continue;
    }
    const { window, blocksAt, checksumBytes } = readFrame(packed, at);
    at = blocksAt;
    for (let isLast = false; !isLast; ) {
      const header = packed.readUIntLE(at, 3);
      const isRle = ((header >> 1) & 3) === RLE;
      isLast = (header & 1) === 1;
      at += 3 + (isRle ? 1 : header >> 3);
      yield { window, end: at };
    }
    at += checksumBytes;
  }
}

function readFrame(packed: Buffer, start: number) {
  if (packed.readUInt32LE(start) !== FRAME_MAGIC) throw new Error('it is not Zstandard');
  const descriptor = packed.readUInt8(start + 4);
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const windowAt = start + 5;
  const sizeAt = windowAt + (isSingleSegment ? 0 : 1) + (DICTIONARY_BYTES[descriptor & 3] ?? 0);
  const sizeBytes = CONTENT_SIZE_BYTES[descriptor >> 6] || (isSingleSegment ? 1 : 0);
  const window = isSingleSegment ? readSize(packed, sizeAt, sizeBytes) : readWindow(packed.readUInt8(windowAt));
  return { window, blocksAt: sizeAt + sizeBytes, checksumBytes: descriptor & 0x04 ? 4 : 0 };
}

function readWindow(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >> 3));
  return base + (base / 8) * (descriptor & 7);
}

function readSize(packed: Buffer, at: number, bytes: number): number {
  if (bytes === 8) return packed.readUInt32LE(at) + packed.readUInt32LE(at + 4) * 2 ** 32;
  return packed.readUIntLE(at, bytes) + (bytes === 2 ? 256 : 0);
}
