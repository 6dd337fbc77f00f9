/** What a browser loads of the built console: one script, one stylesheet, and the texts of one language. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const FOLDER = join(import.meta.dirname, '../../dist/console');
/** docs/decisions/0021-the-console-in-one-script.md */
const MOST_BYTES = 70_000;

const names = readdirSync(FOLDER);
const gzipped = (name: string) => gzipSync(readFileSync(join(FOLDER, name)), { level: 9 }).length;

it('is a page, a script, a stylesheet and a file of texts for each language', () => {
  const kinds = names.map((name) => name.replace(/-[A-Z0-9]{8}\./, '.')).sort();
  expect(kinds).toEqual(['console.css', 'console.js', 'en.js', 'index.html', 'pt-br.js']);
});

it.each(['en-', 'pt-br-'])('takes at most 70 kB, gzipped, with the texts of %s', (language) => {
  const loaded = names.filter((name) => name.startsWith('console-') || name.startsWith(language));
  expect(loaded).toHaveLength(3);
  expect(loaded.reduce((sum, name) => sum + gzipped(name), gzipped('index.html'))).toBeLessThan(MOST_BYTES);
});
