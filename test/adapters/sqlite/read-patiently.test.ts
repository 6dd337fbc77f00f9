import { expect, test } from '@jest/globals';
import { readPatiently } from '../../../src/adapters/sqlite/read-patiently.js';

const failure = (code: string) => Object.assign(new Error('it can not be read'), { code });

/** Fails so often, and is read then. */
function failing(times: number, code: string) {
  let reads = 0;
  return () => {
    reads += 1;
    if (reads <= times) throw failure(code);
    return reads;
  };
}

test.each(['SQLITE_BUSY', 'SQLITE_BUSY_RECOVERY', 'SQLITE_LOCKED'])('is read once %s has passed', async (code) => {
  expect(await readPatiently(failing(3, code))).toBe(4);
});

test('what no time mends is told at once', async () => {
  await expect(readPatiently(failing(1, 'SQLITE_CORRUPT'))).rejects.toThrow('it can not be read');
});

test('whoever waits for too long is told', async () => {
  await expect(readPatiently(failing(Number.POSITIVE_INFINITY, 'SQLITE_BUSY'), 50)).rejects.toMatchObject({
    code: 'SQLITE_BUSY',
  });
});
