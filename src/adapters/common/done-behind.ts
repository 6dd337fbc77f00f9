/**
 * Work done behind a committed offset, as a text that the broker stores with it: `aw1:` and, in base64url, whole numbers of
 * seven bits per byte. First the number of runs of done records, and each run as the gap before it and its length; then each
 * record with done parts, as its distance from the previous one, the number of those parts, and the parts.
 */
import { type DoneBehind, MOST_BEHIND } from './record-lane.js';

const MARK = 'aw1:';
/** For the number of runs, where bytes are few. */
const COUNT_BYTES = 2;

/**
 * @param from the committed offset
 * @param mostBytes before base64url; whatever does not fit is left out, and is done twice
 * @returns '' if nothing is done behind it
 */
export function encodedBehind({ records, parts }: DoneBehind, from: number, mostBytes: number): string {
  const runs = runsOf(
    [...records].filter((offset) => offset >= from),
    from,
  );
  const inParts = [...parts].filter(([offset]) => offset >= from).sort(([a], [b]) => a - b);
  if (runs.length + inParts.length === 0) return '';
  const ofRuns = fitting(runs, mostBytes - COUNT_BYTES);
  const left = mostBytes - COUNT_BYTES - ofRuns.bytes.length;
  const distances = inParts.map(([offset, done], index) => {
    const before = inParts[index - 1]?.[0] ?? from;
    return [offset - before, done.size, ...done];
  });
  const bytes = [...bytesOf(ofRuns.count), ...ofRuns.bytes, ...fitting(distances, left).bytes];
  return MARK + Buffer.from(bytes).toString('base64url');
}

/** Undefined if the text isn't ours. */
export function decodedBehind(text: string, from: number): DoneBehind | undefined {
  if (!text.startsWith(MARK)) return undefined;
  try {
    return read(numbersOf(Buffer.from(text.slice(MARK.length), 'base64url')), from);
  } catch {
    return undefined;
  }
}

function read(numbers: Iterator<number, undefined>, from: number): DoneBehind {
  const records = new Set<number>();
  let next = from;
  for (let runs = taken(numbers); runs > 0; runs -= 1) {
    next += taken(numbers);
    for (let length = taken(numbers); length > 0; length -= 1) {
      if (records.size >= MOST_BEHIND) throw new Error('too many records');
      records.add(next);
      next += 1;
    }
  }
  const parts = new Map<number, Set<number>>();
  let offset = from;
  for (let { value } = numbers.next(); value !== undefined; { value } = numbers.next()) {
    offset += value;
    parts.set(offset, new Set(Array.from({ length: taken(numbers) }, () => taken(numbers))));
  }
  return { records, parts };
}

/** @throws at the end of the numbers */
function taken(numbers: Iterator<number, undefined>): number {
  const { value } = numbers.next();
  if (value === undefined) throw new Error('cut off');
  return value;
}

function runsOf(offsets: readonly number[], from: number): [gap: number, length: number][] {
  const runs: [number, number][] = [];
  let next = from;
  for (const offset of offsets.toSorted((a, b) => a - b)) {
    const last = runs.at(-1);
    if (last && offset === next) last[1] += 1;
    else runs.push([offset - next, 1]);
    next = offset + 1;
  }
  return runs;
}

function fitting(groups: readonly (readonly number[])[], most: number): { count: number; bytes: number[] } {
  const bytes: number[] = [];
  let count = 0;
  for (const group of groups) {
    const more = group.flatMap(bytesOf);
    if (bytes.length + more.length > most) break;
    bytes.push(...more);
    count += 1;
  }
  return { count, bytes };
}

/** Seven bits per byte, lowest first; the top bit means that another byte follows. */
function bytesOf(number: number): number[] {
  const bytes = [];
  for (let left = number; ; left = Math.floor(left / 128)) {
    if (left < 128) return [...bytes, left];
    bytes.push((left % 128) + 128);
  }
}

function* numbersOf(bytes: Buffer): Generator<number, undefined> {
  let number = 0;
  let factor = 1;
  for (const byte of bytes) {
    number += (byte % 128) * factor;
    factor *= 128;
    if (byte >= 128) continue;
    if (!Number.isSafeInteger(number)) throw new Error('not a number');
    yield number;
    number = 0;
    factor = 1;
  }
  if (factor > 1) throw new Error('cut off');
}
