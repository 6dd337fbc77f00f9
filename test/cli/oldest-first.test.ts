import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Line, newest, oldestFirst } from '../../src/cli/oldest-first.js';

const LINE: fc.Arbitrary<Omit<Line['place'], 'offset'> & { length: number }> = fc.record({
  timestamp: fc.integer({ min: 0, max: 30 }),
  partition: fc.integer({ min: 0, max: 3 }),
  length: fc.integer({ min: 0, max: 400 }),
});

/** Lines as a broker gives them: in any order, but by offset within a partition. Clocks may have been set back. */
const LINES = fc.array(LINE, { maxLength: 60 }).map((given) => {
  const offsets = new Map<number, number>();
  return given.map(({ timestamp, partition, length }, n): Line => {
    const offset = offsets.get(partition) ?? 0;
    offsets.set(partition, offset + 1);
    return { place: { timestamp, partition, offset }, text: () => `${n} `.padEnd(length, '.') };
  });
});

const texts = (lines: readonly Line[]) => lines.map(({ text }) => text());

function sorted(lines: readonly Line[]): readonly Line[] {
  const key = ({ place: { timestamp, partition, offset } }: Line) =>
    [timestamp, partition, offset].map((number) => String(number).padStart(4, '0')).join();
  return [...lines].sort((one, other) => (key(one) < key(other) ? -1 : 1));
}

/** A topic, and how often it was read. */
function topic(lines: readonly Line[]) {
  const counted = { readings: 0, read };
  async function* read() {
    counted.readings += 1;
    yield* lines;
  }
  return counted;
}

async function all<T>(values: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const value of values) found.push(value);
  return found;
}

/** Lines of 936 characters: with what is counted for each beside its text, 1,000 each. */
const thousands = (count: number) =>
  Array.from({ length: count }, (_, n): Line => {
    return { place: { timestamp: (n * 7) % count, partition: n % 3, offset: n }, text: () => `${n} `.padEnd(936, '.') };
  });

describe('oldestFirst', () => {
  test('gives every line once, by time, partition and offset, however little is sorted at a time', async () => {
    await fc.assert(
      fc.asyncProperty(LINES, fc.integer({ min: 1, max: 4_000 }), async (lines, partCharacters) => {
        expect(await all(oldestFirst(topic(lines).read, partCharacters))).toEqual(texts(sorted(lines)));
      }),
    );
  });

  test('reads a topic once where there is room for it, and once for each part where not', async () => {
    const lines = thousands(100);
    const roomy = topic(lines);
    await all(oldestFirst(roomy.read, 100_000));
    expect(roomy.readings).toBe(1);
    const narrow = topic(lines);
    expect(await all(oldestFirst(narrow.read, 10_000))).toEqual(texts(sorted(lines)));
    expect(narrow.readings).toBe(10);
  });
});

describe('newest', () => {
  test('gives the last of what oldestFirst gives', async () => {
    await fc.assert(
      fc.asyncProperty(LINES, fc.integer({ min: 1, max: 70 }), async (lines, count) => {
        expect(await newest(topic(lines).read, count)).toEqual(texts(sorted(lines)).slice(-count));
      }),
    );
  });
});
