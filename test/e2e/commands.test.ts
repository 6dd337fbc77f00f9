/** Each command that ends by itself: --json, an account that is not registered, a full disk, and in-process as built. */
import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { startOwnServer } from '../services/eventstoredb/own-server.js';
import { commandLine, helpOfAll } from '../support/clients/in-process-cli.js';
import { type ServiceHere, serveHere } from '../support/clients/in-process-service.js';
import { exitOf, jsonLines, MAIN, run, type Settings, start } from '../support/clients/service.js';
import { eventually } from '../support/clocks/eventually.js';
import { type Account, addWebhook, installation, paymentEvents, register, tokenFor } from '../support/scenes/story.js';
import { startReceiver } from '../support/servers/receiver.js';

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
  const MASTER_KEY = Buffer.alloc(32).toString('base64');
  empty = { ...other.settings, MASTER_KEY, PORT: '0', ADMIN_PORT: '0' };
  onServer = { ...empty, EVENT_STORE_URL: server.url };
  await commandLine(onServer, ['projections', 'deploy']);
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

interface Tried {
  readonly args?: () => readonly string[];
  readonly on?: () => Settings;
  readonly stdin?: string;
  /** It takes an account: how it is named. */
  readonly of?: (account: string) => readonly string[];
  /** It ends in the same way each time, with a service beside it or without. */
  readonly again?: true;
}

const account42 = (option: string) => ({ args: () => [option, '42'], of: (id: string) => [option, id] });
const period = ['--from', '2020-01-01', '--to', '2120-01-01'];
const called = (...args: string[]) => [...args, '--token', token, '--url', service.url];

/** Those with a token come before its revocation. */
const COMMANDS: Readonly<Record<string, Tried>> = {
  token: {
    args: () => ['--client-id', account.clientId, '--client-secret', account.clientSecret, '--url', service.url],
  },
  'webhooks add': { args: () => called('https://example.com/', 'cash_out') },
  'webhooks list': { args: () => called() },
  'webhooks update': { args: () => called('1', '--active', 'true') },
  'webhooks recover': { args: () => called('1', '--since', '2020-01-01', '--include', 'held') },
  'deliveries resend': { args: () => called(deliveryId) },
  'accounts register': { args: () => ['43'] },
  'accounts issue-credential': { args: () => ['42'], of: (id) => [id] },
  'accounts revoke-credential': { args: () => [account.clientId] },
  'accounts rotate-secret': { args: () => ['42'], of: (id) => [id] },
  'publishers register': { args: () => ['ledger'] },
  'publishers list': { again: true },
  'publishers issue-credential': { args: () => ['billing'] },
  'publishers revoke-credential': { args: () => [publisherClient] },
  'events publish': { stdin: paymentEvents(42, 1, 'again-') },
  'audit log': { ...account42('--account'), again: true },
  'audit at': { args: () => ['--account', '42', '--time', '2120-01-01'], again: true },
  'audit completeness': { args: () => period, of: (id) => [...period, '--account', id] },
  'deliveries list': account42('--account'),
  'dead-letters list': { again: true },
  'dead-letters replay': { of: (id) => ['--account', id] },
  'store accept': { on: () => empty },
  backup: { args: () => [join(String(settings.DATA_DIR), 'copy.sqlite')] },
  doctor: { on: () => empty, again: true },
  'projections deploy': { on: () => onServer },
  'projections status': { on: () => onServer, again: true },
  'projections rebuild': { on: () => onServer },
  'projections verify': { on: () => onServer, again: true },
  demo: {},
};
const words = (name: string, { args = () => [] }: Tried) => [...name.split(' '), ...args()];

test('the table has every command, and each takes --json', async () => {
  const helps = await helpOfAll();
  expect([...helps.keys()].filter((name) => !(name in COMMANDS))).toEqual(['serve']);
  expect([...helps].filter(([, help]) => !/^ {2}--json /m.test(help))).toEqual([]);
});

const OF_ACCOUNTS = Object.entries(COMMANDS).flatMap(([name, { of }]) => (of ? [[name, of] as const] : []));
test.each(OF_ACCOUNTS)(
  '%s of an account that is not registered says so; that has nothing to tell is done',
  async (name, of) => {
    const asked = (id: string) => commandLine(settings, [...name.split(' '), ...of(id), '--json']);
    // An id that the registered one begins with.
    const { code, stdout, stderr } = await asked('4');
    expect([code, stdout, stderr.split('\n').at(-2)]).toEqual([1, '', 'account-webhooks: account 4 is not registered']);
    await register(settings, 7).catch(() => undefined);
    expect(await asked('7')).toMatchObject({ code: 0 });
  },
);

const AGAIN = Object.entries(COMMANDS).filter(([, { again }]) => again);
test.each(AGAIN)('%s prints JSON with --json, and in a test as in a process', async (name, tried) => {
  const ended = async (by: typeof run, ...more: string[]) => {
    // Processes of tests have a proxy that nothing may use, and doctor says so.
    const on = { ...(tried.on?.() ?? settings), HTTPS_PROXY: '' };
    const { stderr, ...result } = await by(on, [...words(name, tried), ...more]);
    // Other tests write to the same disk.
    return { ...result, stdout: result.stdout.replace(/\d+ MiB are free/, 'many MiB are free'), stderr };
  };
  const here = await ended(commandLine, '--json');
  expect(() => jsonLines(here.stdout)).not.toThrow();
  expect(here).toEqual(await ended(run, '--json'));
});

test.each([[['nonsense']], [['webhooks', 'list', '--tokn=secret']], [['projections', 'deploy']]])(
  '%j ends in a test as in a process',
  async (args) => {
    expect(await commandLine(empty, args)).toEqual(await run(empty, args));
  },
);

test.each([
  { roles: 'api,dispatcher', url: true },
  { roles: 'dispatcher', url: false },
])('serve --json says where it is once it is ready: $roles', async ({ roles, url }) => {
  const child = start(empty, ['serve', '--json', '--roles', roles]);
  let said = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    said += chunk;
  });
  await eventually(() => said.endsWith('\n'), { timeout: 30_000 });
  child.kill('SIGTERM');
  expect(await exitOf(child)).toBe(0);
  const address = expect.stringMatching(/^http:\/\/127.0.0.1:\d+$/);
  expect(JSON.parse(said)).toEqual({ roles: roles.split(','), url: url ? address : null, adminUrl: address });
});

test('demo --json answers with one object; its story is on stderr', async () => {
  const { code, stdout, stderr } = await run({}, ['demo', '--json']);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual({ accountId: 42, webhooks: 3, events: 5, requests: 17 });
  expect(stderr).toMatch(/^1\. An account is registered/);
});

test.each(Object.keys(COMMANDS))('%s on a full disk says so in one line, and exits with 1', async (name) => {
  const tried = COMMANDS[name] ?? {};
  const ended = await run(tried.on?.() ?? settings, words(name, tried), tried.stdin, { stdout: full });
  expect(ended).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(/^(.*\n)*account-webhooks: .+\n$/) });
  const said = ended.stderr.split('\n').filter((line) => line.startsWith('account-webhooks: '));
  // Before it begins, the audit says which room it needs.
  const endings = said.filter((line) => !line.endsWith(' may need 1 MiB'));
  expect(endings).toEqual([expect.stringContaining("stdout can't be written (ENOSPC)")]);
});

test.each([['--help'], ['--version']])('%s on a full disk exits with 1', async (...args) => {
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

test('a command whose reader went away says nothing, and ends with 1', async () => {
  const child = start(settings, ['audit', 'log', '--account', '42']);
  child.stdout?.destroy();
  const [stderr, ended] = await Promise.all([text(child.stderr as Readable), exitOf(child)]);
  expect([ended, stderr]).toEqual([1, '']);
});

test.each(['stdout', 'stderr'] as const)(
  'serve goes on where its %s is on a full disk, and drains at SIGTERM',
  async (stream) => {
    const child = start(empty, ['serve', '--json'], { [stream]: full });
    let said = '';
    (stream === 'stdout' ? child.stderr : child.stdout)?.setEncoding('utf8').on('data', (chunk: string) => {
      said += chunk;
    });
    const admin = () => /"adminUrl":"([^"]+)"/.exec(said)?.[1] ?? /"adminPort":(\d+),"msg":"ready"/.exec(said)?.[1];
    const found = await eventually(admin, { timeout: 30_000 });
    const url = found.startsWith('http') ? found : `http://127.0.0.1:${found}`;
    expect((await fetch(`${url}/health/ready`)).status).toBe(200);
    child.kill('SIGTERM');
    expect(await exitOf(child)).toBe(0);
  },
);
