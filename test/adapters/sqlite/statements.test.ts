import { readdirSync, readFileSync } from 'node:fs';

const FOLDER = new URL('../../../src/adapters/sqlite/', import.meta.url);

test('no limit is a bare parameter, by whose value SQLite would plan anew at each call (open-file.ts)', () => {
  const sources = readdirSync(FOLDER, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(new URL(name, FOLDER), 'utf8'));
  const limits = sources.flatMap((source) => source.match(/LIMIT \+?\?/g) ?? []);
  expect(limits).toContain('LIMIT +?');
  expect(limits).not.toContain('LIMIT ?');
});
