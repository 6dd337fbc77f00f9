import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
interface Packed {
  readonly files: readonly { readonly path: string; readonly mode: number }[];
}

let packed: Packed;

beforeAll(() => {
  // Without its scripts, which would build anew under the other tests.
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const [first] = Object.values(JSON.parse(execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8' })) as object);
  packed = first as Packed;
});

const paths = () => packed.files.map(({ path }) => path);

test('all that was built is in it, and nothing else of dist/', () => {
  const built = readdirSync(`${ROOT}dist`, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map(({ parentPath, name }) => `${relative(ROOT, parentPath)}/${name}`);
  expect(
    paths()
      .filter((path) => path.startsWith('dist/'))
      .sort(),
  ).toEqual(built.sort());
  const page = ['console.css', 'console.js', 'index.html', 'en.js', 'pt-br.js'].map((name) => `dist/console/${name}`);
  const named = built.map((path) => path.replace(/-\w{8}\./, '.'));
  expect(named).toEqual(expect.arrayContaining(['dist/main.js', 'dist/demo.js', 'dist/licenses.txt', ...page]));
});

test('its command is in it, and may be run', () => {
  const { bin } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as { bin: Record<string, string> };
  expect(Object.keys(bin)).toEqual(['account-webhooks']);
  const command = packed.files.find(({ path }) => path === bin['account-webhooks']);
  expect((command?.mode ?? 0) & 0o111).toBe(0o111);
});

test('the documents that the README leads a user to are in it', () => {
  const links = readFileSync(`${ROOT}README.md`, 'utf8').matchAll(/\]\(((?:docs|ops)\/[^)#]+)/g);
  const targets = [...links].map(([, target]) => target);
  expect(targets.length).toBeGreaterThan(2);
  expect(paths()).toEqual(expect.arrayContaining(targets));
});
