import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

const READS_ENVIRONMENT =
  /\bprocess\s*(\?\.|\.)\s*env\b|\bprocess\s*\[|\{[^}]*\benv\b[^}]*\}\s*(=\s*process\b|from\s*'(node:)?process')/;

test('settings/read-config.ts alone reads the environment', () => {
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  expect(sources.length).toBeGreaterThan(10);
  const readers = sources.filter((file) => READS_ENVIRONMENT.test(readFileSync(join(ROOT, 'src', file), 'utf8')));
  expect(readers.filter((file) => file !== join('settings', 'read-config.ts'))).toEqual([]);
});
