import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Besides dist/, which is as many files as esbuild makes of src/. */
const EXPECTED = [
  ...['CHANGELOG.md', 'LICENSE', 'README.md', 'SECURITY.md', 'package.json'],
  ...['docs/api.md', 'docs/asyncapi.json', 'docs/audit.md', 'docs/benchmarks.md', 'docs/operations.md'],
  ...['docs/console.md', 'docs/console/portal.mjs'],
  ...['overview', 'overview-dark', 'delivery', 'delivery-dark'].map((name) => `docs/pictures/${name}.png`),
  ...['docs/payment-events.md', 'docs/tests.md', 'docs/tour.md'],
  ...['sh', 'go', 'php'].map((ending) => `docs/producers/http-producer.${ending}`),
  ...['docs/producers/http_producer.py', 'docs/producers/HttpProducer.java', 'docs/producers/cloud_events.py'],
  ...['docs/producers/cloud-events.mjs', 'docs/producers/cloud-events.go'],
  ...['docs/producers/Producer.java', 'docs/producers/cloud-events.sh', 'docs/producers/producer.py'],
  ...['docs/producers/producer.sh', 'docs/receivers.md', 'docs/reliability.md', 'docs/settings.md'],
  ...['docs/receivers/Receiver.java', 'docs/receivers/local.mjs', 'docs/receivers/receiver.go'],
  ...['docs/receivers/receiver.mjs', 'docs/receivers/receiver.php'],
  ...['docs/receivers/receiver.py', 'ops/grafana-dashboard.json', 'ops/prometheus-alerts.yml'],
  ...['projections/account-credentials.js', 'projections/account-webhooks.js'],
];

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

test('the package has what runs and what tells of it, and nothing else', () => {
  expect(
    paths()
      .filter((path) => !path.startsWith('dist/'))
      .sort(),
  ).toEqual([...EXPECTED].sort());
});

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
