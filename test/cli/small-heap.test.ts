/** When the heap counts as fragmented. The bench row hostile-accounts-memory measures what compacting it saves. */
import { execFileSync } from 'node:child_process';
import { getHeapSpaceStatistics } from 'node:v8';
import { isFragmented } from '../../src/cli/small-heap.js';

const MIB = 1024 * 1024;
const space = (usedMiB: number, physicalMiB: number) => ({
  space_used_size: usedMiB * MIB,
  physical_space_size: physicalMiB * MIB,
});

test.each([
  ['a small heap, however empty', space(10, 64), false],
  ['a compact one, right after a collection', space(100, 140), false],
  ['a compact one, right before the next', space(138, 140), false],
  ['one that is half empty after a collection', space(78, 160), true],
  ['the same right before the next', space(108, 160), true],
])('%s', (_, sizes, expected) => {
  expect(isFragmented(sizes)).toBe(expected);
});

test('this Node has the heap space and both options', () => {
  expect(getHeapSpaceStatistics().map((one) => one.space_name)).toContain('old_space');
  const options = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' });
  expect(options).toContain('--heap-growing-percent');
  expect(options).toContain('--optimize-for-size');
});
