import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './cruise.js';

const READS_ENVIRONMENT =
  /\bprocess\s*(\?\.|\.)\s*env\b|\bprocess\s*\[|\{[^}]*\benv\b[^}]*\}\s*(=\s*process\b|from\s*'(node:)?process')/;

test.each([
  'const home = process.env.HOME;',
  'read(process.env)',
  "process['env'].HOME",
  'const { env } = process;',
  "import { env } from 'node:process';",
])('is seen as reading the environment: %s', (line) => {
  expect(line).toMatch(READS_ENVIRONMENT);
});

test.each(['process.exitCode = 1;', 'loadConfig(env)', 'environment.process'])('is not: %s', (line) => {
  expect(line).not.toMatch(READS_ENVIRONMENT);
});

test('settings/read-config.ts alone reads the environment', () => {
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  expect(sources.length).toBeGreaterThan(10);
  const readers = sources.filter((file) => READS_ENVIRONMENT.test(readFileSync(join(ROOT, 'src', file), 'utf8')));
  expect(readers.filter((file) => file !== join('settings', 'read-config.ts'))).toEqual([]);
});
