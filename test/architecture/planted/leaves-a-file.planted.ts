import { openSync } from 'node:fs';
import { expect, test } from '@jest/globals';

test('leaves a file', () => {
  expect(openSync(new URL(import.meta.url), 'r')).toBeGreaterThan(2);
});
