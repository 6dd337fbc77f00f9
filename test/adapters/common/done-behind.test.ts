import { decodedBehind, encodedBehind } from '../../../src/adapters/common/done-behind.js';
import { seeded } from '../../support/generators/seeded.js';

const NONE = { records: new Set<number>(), parts: new Map<number, Set<number>>() };
/** As many as Kafka stores with an offset. */
const MOST_CHARACTERS = 4_096;

const behind = (records: readonly number[], parts: readonly (readonly [number, readonly number[]])[] = []) => ({
  records: new Set(records),
  parts: new Map(parts.map(([offset, done]) => [offset, new Set(done)])),
});

describe('what is done behind a committed offset', () => {
  it.each([
    ['one record', behind([101])],
    ['runs, far apart', behind([101, 102, 103, 110, 5_000_000_000, 5_000_000_001])],
    [
      'parts of records',
      behind(
        [],
        [
          [100, [7]],
          [300, [1, 200, 70_000]],
        ],
      ),
    ],
    ['both', behind([101, 103], [[102, [3, 4]]])],
  ])('is read as it was written: %s', (_, given) => {
    expect(decodedBehind(encodedBehind(given, 100, MOST_CHARACTERS), 100)).toEqual(given);
  });

  it('is short for a record with many parts that were done nearly in their order', () => {
    const parts = Array.from({ length: 500 }, (_, part) => part).filter((part) => part < 480 || part % 3 > 0);
    const given = behind([], [[100, parts]]);
    const text = encodedBehind(given, 100, MOST_CHARACTERS);
    expect(text.length).toBeLessThan(60);
    expect(decodedBehind(text, 100)).toEqual(given);
  });

  it('is an empty text where nothing is done', () => {
    expect(encodedBehind(NONE, 100, MOST_CHARACTERS)).toBe('');
  });

  it.each([0, 4, 5, 7])('is an empty text if nothing fits: %d characters', (most) => {
    expect(encodedBehind(behind([101], [[102, [3, 4]]]), 100, most)).toBe('');
  });

  it('fits the metadata that Kafka stores with an offset, and names only work that is done', () => {
    const { below } = seeded(1);
    const chance = (part: number) => below(1_000) < 1_000 * part;
    for (const density of [0.01, 0.3, 0.5, 0.99]) {
      const offsets = Array.from({ length: 16_384 }, (_, n) => 100 + n);
      const records = offsets.filter(() => chance(density));
      const given = behind(
        records,
        offsets.filter(() => chance(0.1)).map((offset) => [offset, [1, 2]] as const),
      );
      const text = encodedBehind(given, 100, MOST_CHARACTERS);
      expect(text.length).toBeLessThanOrEqual(MOST_CHARACTERS);
      const read = decodedBehind(text, 100) ?? NONE;
      expect(read.records.size).toBeGreaterThan(100);
      expect([...read.records].every((offset) => given.records.has(offset))).toBe(true);
      expect([...read.parts].every(([offset]) => given.parts.has(offset))).toBe(true);
    }
  });

  it.each(['', 'null', 'somebody else’s'])('is undefined where the text is not ours: %j', (text) => {
    expect(decodedBehind(text, 100)).toBeUndefined();
  });
});
