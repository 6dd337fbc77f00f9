/** The image has what its build and the service read: a file that .dockerignore leaves out breaks one or the other. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileOf } from '../support/oracles/file-of.js';

const ROOT = join(import.meta.dirname, '../..');
const lines = (path: string) => fileOf(path).split('\n');

/** As .dockerignore names them: everything else is left out. */
const sent = lines('.dockerignore').flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []));
const isSent = (path: string) => sent.some((one) => path === one || path.startsWith(`${one}/`));
const copied = lines('Dockerfile')
  .filter((line) => /^COPY (?!--from)/.test(line))
  .flatMap((line) => line.split(/\s+/).slice(1, -1));

it('is sent all that the Dockerfile copies', () => {
  expect(copied.length).toBeGreaterThan(5);
  expect(copied.filter((path) => !existsSync(join(ROOT, path)) || !isSent(path))).toEqual([]);
});

it('has all that the sources name by its path in the package', () => {
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => fileOf(join('src', path)));
  const named = sources.flatMap((text) =>
    [...text.matchAll(/packageFile\(['`]([^'`$]+)/g)].map(([, path = '']) => path),
  );
  expect(named).toContain('docs/asyncapi.json');
  const left = named.filter((path) => !path.startsWith('dist/') && !copied.some((one) => path.startsWith(one)));
  expect(left).toEqual([]);
});
