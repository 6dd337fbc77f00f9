import { openSync } from 'node:fs';

test('leaves a file', () => {
  expect(openSync(new URL(import.meta.url), 'r')).toBeGreaterThan(2);
});
