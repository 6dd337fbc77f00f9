/** What a browser loads for each screen of the built console, in each language. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const FOLDER = join(import.meta.dirname, '../../dist/console');
/** docs/decisions/0021-the-console-in-chunks.md */
const MOST_BYTES = 41_000;

const names = readdirSync(FOLDER);
const textOf = (name: string) => readFileSync(join(FOLDER, name), 'utf8');
const named = (start: string) => names.filter((name) => name.startsWith(start));

/** With all that it imports before it runs. */
function withImports(name: string, found = new Set<string>()): Set<string> {
  if (found.has(name)) return found;
  found.add(name);
  for (const [, imported = ''] of textOf(name).matchAll(/(?:from|import)"\.\/([^"]+)"/g)) withImports(imported, found);
  return found;
}

const bytes = (loaded: Iterable<string>) =>
  [...new Set(loaded)].reduce((sum, name) => sum + gzipSync(textOf(name), { level: 9 }).length, 0);

const shell = ['index.html', ...named('console-')];
const screens = names.filter((name) => name.includes('-screen-'));

it('there is a chunk for each screen, and one for each language', () => {
  expect(screens.length).toBeGreaterThan(2);
  expect([named('en-').length, named('pt-br-').length]).toEqual([1, 1]);
});

describe.each(['en-', 'pt-br-'])('in %s', (language) => {
  it.each(screens)('%s takes at most 41 kB, gzipped', (screen) => {
    const scripts = [...shell, ...named(language), screen].filter((name) => name.endsWith('.js'));
    const loaded = [...shell, ...scripts.flatMap((name) => [...withImports(name)])];
    expect(bytes(loaded)).toBeLessThan(MOST_BYTES);
  });
});

it('only imports what is there, and loads no language and no screen with the script', () => {
  const withScript = shell.filter((name) => name.endsWith('.js')).flatMap((name) => [...withImports(name)]);
  expect(withScript.length).toBeGreaterThan(1);
  expect(withScript.filter((name) => /^(en|pt-br)-|-screen-/.test(name))).toEqual([]);
});
