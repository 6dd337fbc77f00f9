/** What doctor says of DATA_DIR, the files in it, and the certificates that settings name. */
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import { StoreFile } from '../../src/adapters/sqlite/store-file.js';
import { runChecks } from '../../src/doctor/check.js';
import { fileChecks } from '../../src/doctor/file-checks.js';
import { readConfig } from '../../src/settings/read-config.js';
import type { Settings } from '../support/clients/service.js';
import { temporaryDirectory } from '../support/scenes/temporary-directory.js';

const DAY_MS = 24 * 3_600_000;
const temporary = temporaryDirectory();
const dataDir = join(temporary.path, 'data');
const at = (name: string) => join(dataDir, name);
afterAll(() => temporary.remove());

/** As `serve` leaves it. */
beforeEach(() => {
  rmSync(dataDir, { recursive: true, force: true });
  mkdirSync(dataDir, { mode: 0o700 });
  new StoreFile(dataDir).close();
  writeFileSync(at('master.key'), Buffer.alloc(32).toString('base64'), { mode: 0o600 });
  for (const name of readdirSync(dataDir)) chmodSync(at(name), 0o600);
});

async function troubles(more: Settings = {}): Promise<string[]> {
  const results = await runChecks(fileChecks(readConfig({ DATA_DIR: dataDir, ...more }), Date.now()), 10_000);
  return results
    .filter(({ verdict }) => verdict !== 'ok')
    .map(({ verdict, check, says }) => `${verdict} ${check}: ${says}`);
}

function fileWith(name: string, content: string): string {
  writeFileSync(join(temporary.path, name), content);
  return join(temporary.path, name);
}

async function certificate(days: number): Promise<string> {
  const from = Date.now();
  const dates = { notBeforeDate: new Date(from - 90 * DAY_MS), notAfterDate: new Date(from + days * DAY_MS) };
  const options = { keyType: 'ec', algorithm: 'sha256', ...dates } as const;
  return (await generate([{ name: 'commonName', value: 'x' }], options)).cert;
}

test('a schema that serve refuses fails here too', async () => {
  const folder = join(temporary.path, 'schemas');
  mkdirSync(folder);
  writeFileSync(join(folder, 'cash_in.json'), '{bad');
  expect(await troubles({ EVENT_SCHEMAS: folder })).toEqual([
    expect.stringMatching(/^FAIL EVENT_SCHEMAS: .*cash_in\.json is no JSON/),
  ]);
});

const mode = (path: string, bits: number) => () => chmodSync(path, bits);
const files = () => readdirSync(dataDir);

test.each<[string, () => void, string[]]>([
  ['sound', () => undefined, []],
  [
    'a key that others can read',
    mode(at('master.key'), 0o644),
    ['FAIL master.key: other users can read or write it (mode 0644)'],
  ],
  [
    'a store that others can read',
    mode(at('store.sqlite'), 0o604),
    ['FAIL store.sqlite: other users can read or write it (mode 0604)'],
  ],
  ['a folder that others can list', mode(dataDir, 0o755), ['warn DATA_DIR: other users can list it (mode 0755)']],
  [
    'a folder that others can write to',
    mode(dataDir, 0o777),
    ['FAIL DATA_DIR: other users can write to it (mode 0777)'],
  ],
  [
    'the rights that fsGroup gives at every mount',
    () => {
      for (const name of files()) chmodSync(at(name), 0o660);
      chmodSync(dataDir, 0o2770);
    },
    [
      'warn DATA_DIR: its group can use it (mode 0770)',
      'warn master.key: its group can read or write it (mode 0660)',
      'warn store.sqlite: its group can read or write it (mode 0660)',
    ],
  ],
  [
    'a file',
    () => {
      rmSync(dataDir, { recursive: true });
      writeFileSync(dataDir, '');
    },
    ['FAIL DATA_DIR: not a folder'],
  ],
  ['not there yet', () => rmSync(dataDir, { recursive: true }), ['warn DATA_DIR: does not exist yet']],
])('DATA_DIR with %s has the findings %j, and is not made', async (_, change, expected) => {
  change();
  const isThere = existsSync(dataDir);
  expect((await troubles()).filter((line) => !line.includes('are free'))).toEqual(expected);
  expect(existsSync(dataDir)).toBe(isThere);
});

test.each([
  ['is not there', () => '/nowhere/ca.pem', "FAIL DELIVERY_CA_FILE: DELIVERY_CA_FILE names a file that can't be read"],
  ['holds no certificate', () => fileWith('no.pem', 'hello'), 'that holds no certificate in PEM'],
  ['has expired', async () => fileWith('old.pem', await certificate(-1)), 'a certificate in it expired on'],
  [
    'is for later',
    async () => fileWith('soon.pem', `${await certificate(20)}\n${await certificate(500)}`),
    'warn DELIVERY_CA_FILE: a certificate in it expires on',
  ],
])('a certificate that %s is told', async (_, file, says) => {
  expect(await troubles({ DELIVERY_CA_FILE: await file() })).toEqual([expect.stringContaining(says)]);
});

test('a client certificate without its key fails, and its settings are named', async () => {
  const DELIVERY_CLIENT_CERT_FILE = fileWith('client.pem', await certificate(100));
  const shown = { DELIVERY_CLIENT_CERT_FILE, DELIVERY_CLIENT_KEY_FILE: fileWith('client.key', 'hello') };
  expect(await troubles(shown)).toEqual([
    expect.stringContaining('FAIL DELIVERY_CLIENT_CERT_FILE: DELIVERY_CLIENT_KEY_FILE names no key'),
  ]);
});
