/** stdout or stderr is on a full disk, or its reader is gone: no command says that it succeeded without its answer. */
import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { startOwnServer } from '../services/eventstoredb/own-server.js';
import { eventually } from '../support/eventually.js';
import { commandLine, helpOfAll } from '../support/in-process-cli.js';
import { type ServiceHere, serveHere } from '../support/in-process-service.js';
import { startReceiver } from '../support/receiver.js';
import { exitOf, MAIN, run, type Settings, start } from '../support/service.js';
import { type Account, addWebhook, installation, paymentEvents, register, tokenFor } from '../support/story.js';
import { inFull } from '../support/thorough.js';

/** Of Linux: every write fails with ENOSPC. */
const full = openSync('/dev/full', 'w');
const cleanups: (() => unknown)[] = [() => closeSync(full)];

let settings: Settings;
let onServer: Settings;
let empty: Settings;
let service: ServiceHere;
let account: Account;
let token: string;
let publisherClient: string;
let deliveryId: string;

beforeAll(async () => {
  const receiver = await startReceiver();
  const [installed, other] = [await installation([receiver]), await installation([])];
  const server = await startOwnServer();
  settings = installed.settings;
  empty = other.settings;
  onServer = { ...empty, EVENT_STORE_URL: server.url, MASTER_KEY: Buffer.alloc(32).toString('base64') };
  service = await serveHere(settings);
  cleanups.push(
    () => service.stop(),
    () => receiver.close(),
    installed.remove,
    other.remove,
    () => server.stop(),
  );
  account = await register(settings, 42);
  token = await tokenFor(service.url, account);
  const publisher = await commandLine(settings, ['publishers', 'register', 'billing', '--json'], '');
  publisherClient = JSON.parse(publisher.stdout).clientId;
  await addWebhook(service.url, token, { url: `${receiver.url}/hook`, eventType: 'cash_in' });
  await commandLine(settings, ['events', 'publish'], `no payment event\n${paymentEvents(42, 1)}`);
  const listed = async (...args: string[]) => (await commandLine(settings, args)).stdout !== '';
  await eventually(() => listed('deliveries', 'list', '--account', '42'));
  await eventually(() => listed('dead-letters', 'list'));
  const deliveries = await commandLine(settings, ['deliveries', 'list', '--account', '42', '--json']);
  deliveryId = JSON.parse(deliveries.stdout.split('\n')[0] ?? '').id;
});
afterAll(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
});

const forAccount = ['--account', '42'];
const period = ['--from', '2020-01-01', '--to', '2120-01-01'];

/** Each command that ends by itself: its arguments, its settings and stdin. Those with a token come before its revocation. */
const COMMANDS: Readonly<Record<string, { args?: () => readonly string[]; on?: () => Settings; stdin?: string }>> = {
  token: {
    args: () => ['--client-id', account.clientId, '--client-secret', account.clientSecret, '--url', service.url],
  },
  'webhooks add': { args: () => ['https://example.com/', 'cash_out', '--token', token, '--url', service.url] },
  'webhooks list': { args: () => ['--token', token, '--url', service.url] },
  'webhooks update': { args: () => ['1', '--active', 'true', '--token', token, '--url', service.url] },
  'webhooks recover': {
    args: () => ['1', '--since', '2020-01-01', '--include', 'held', '--token', token, '--url', service.url],
  },
  'deliveries resend': { args: () => [deliveryId, '--token', token, '--url', service.url] },
  'accounts register': { args: () => ['43'] },
  'accounts issue-credential': { args: () => ['42'] },
  'accounts revoke-credential': { args: () => [account.clientId] },
  'accounts rotate-secret': { args: () => ['42'] },
  'publishers register': { args: () => ['ledger'] },
  'publishers list': {},
  'publishers issue-credential': { args: () => ['billing'] },
  'publishers revoke-credential': { args: () => [publisherClient] },
  'events publish': { stdin: paymentEvents(42, 1, 'again-') },
  'audit log': { args: () => forAccount },
  'audit at': { args: () => [...forAccount, '--time', '2120-01-01'] },
  'audit completeness': { args: () => period },
  'deliveries list': { args: () => forAccount },
  'dead-letters list': {},
  'dead-letters replay': {},
  'store accept': { on: () => empty },
  backup: { args: () => [join(String(settings.DATA_DIR), 'copy.sqlite')] },
  doctor: {},
  'projections deploy': { on: () => onServer },
  'projections status': { on: () => onServer },
  'projections rebuild': { on: () => onServer },
  'projections verify': { on: () => onServer },
  ...inFull({ demo: {} }, {}),
};

test('the table has every command', async () => {
  const missing = [...(await helpOfAll()).keys()].filter((command) => !(command in COMMANDS));
  expect(missing).toEqual(inFull(['serve'], ['serve', 'demo']));
});

test.each(Object.keys(COMMANDS))('%s on a full disk says so in one line, and exits with 1', async (command) => {
  const { args = () => [], on = () => settings, stdin } = COMMANDS[command] ?? {};
  const ended = await run(on(), [...command.split(' '), ...args()], stdin, { stdout: full });
  expect(ended).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(/^(.*\n)*account-webhooks: .+\n$/) });
  const said = ended.stderr.split('\n').filter((line) => line.startsWith('account-webhooks: '));
  // Before it begins, the audit says which room it needs.
  const endings = said.filter((line) => !line.endsWith(' may need 1 MiB'));
  expect(endings).toEqual([expect.stringContaining("stdout can't be written (ENOSPC)")]);
});

test.each([['--help'], ['--version'], ['help', 'audit', 'log']])('%s on a full disk exits with 1', async (...args) => {
  expect(await run({}, args, '', { stdout: full })).toMatchObject({ code: 1, stderr: expect.stringMatching(/ENOSPC/) });
});

test('a disk that becomes full within the answer is noticed', async () => {
  const path = join(String(settings.DATA_DIR), 'log');
  // The shell's limit is in blocks of 1,024 bytes, or of 512.
  const limited = `ulimit -f 1; exec '${process.execPath}' '${MAIN}' --help > '${path}'`;
  const { status, stderr } = spawnSync('sh', ['-c', limited], { encoding: 'utf8' });
  expect(readFileSync(path, 'utf8')).toMatch(/^Usage: /);
  expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('EFBIG') });
});

test.each([
  [['accounts', 'register', '44'], /issue-credential 44.*rotate-secret 44/],
  [['accounts', 'issue-credential', '42'], /revoke-credential \S+.*issue-credential 42/],
  [['accounts', 'rotate-secret', '42'], /rotate-secret 42/],
  [['publishers', 'register', 'cards'], /revoke-credential pub_cards_\S+.*issue-credential cards/],
])('%j says how to get other secrets where these are lost, even to a reader that went away', async (args, says) => {
  expect(await withoutReader(settings, args)).toEqual({ code: 1, stderr: expect.stringMatching(says) });
});

test('a reader that stops early is no failure', async () => {
  expect(await withoutReader(settings, ['audit', 'log', ...forAccount])).toEqual({ code: 0, stderr: '' });
});

test('a reader that stops early does not change a verdict', async () => {
  const { code } = await withoutReader({ ...settings, LOG_LEVEL: 'loud' }, ['doctor']);
  expect(code).toBe(1);
});

/** Nobody reads its stdout. */
async function withoutReader(given: Settings, args: readonly string[]) {
  const child = start(given, args);
  child.stdout?.destroy();
  const [stderr, code] = await Promise.all([text(child.stderr as Readable), exitOf(child)]);
  return { code, stderr };
}

describe('serve', () => {
  const serving = () => ({ ...empty, PORT: '0', ADMIN_PORT: '0' });
  const isReady = async (adminUrl: string) =>
    (await fetch(`${adminUrl}/health/ready`).catch(() => null))?.status === 200;

  test.each([
    ['on a full disk', { stdout: full }],
    ['with no reader', {}],
  ])('goes on where its stdout is %s, and drains at SIGTERM', async (_, spawning) => {
    const child = start(serving(), ['serve', '--json'], spawning);
    child.stdout?.destroy();
    let log = '';
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      log += chunk;
    });
    await eventually(() => log.includes('could not be printed'), { timeout: 30_000 });
    const { adminPort } = JSON.parse(log.split('\n').find((line) => line.includes('"msg":"ready"')) ?? '{}');
    expect(await isReady(`http://127.0.0.1:${adminPort}`)).toBe(true);
    child.kill('SIGTERM');
    expect(await exitOf(child)).toBe(0);
    expect(log).toContain('"msg":"stopped"');
  });

  test.each([
    ['on a full disk', { stderr: full }],
    ['with no reader', {}],
  ])('goes on where its log is %s, and drains at SIGTERM', async (_, spawning) => {
    const child = start(serving(), ['serve', '--json'], spawning);
    child.stderr?.destroy();
    let answer = '';
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      answer += chunk;
    });
    await eventually(() => answer.endsWith('\n'), { timeout: 30_000 });
    expect(await isReady(JSON.parse(answer).adminUrl)).toBe(true);
    child.kill('SIGTERM');
    expect(await exitOf(child)).toBe(0);
  });
});
