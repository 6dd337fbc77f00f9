/** A whole life of an installation with secrets that can be recognised; then all it wrote is searched for them. */
import { join } from 'node:path';
import { driver } from '../../src/adapters/sqlite/open-file.js';
import { PlantedClient, sendRefused } from '../support/clients/planted-requests.js';
import { jsonLines, type Service, type Settings, startServing } from '../support/clients/service.js';
import { eventually } from '../support/clocks/eventually.js';
import { PlantedSecrets } from '../support/oracles/planted-secrets.js';
import { FaultScene } from '../support/scenes/fault-scene.js';
import {
  ECHOED,
  echoing,
  leaks,
  PlantedInstallation,
  plantedSettings,
  signatureOf,
} from '../support/scenes/planted-installation.js';
import type { Account } from '../support/scenes/story.js';

const ACCOUNT = 42;
const PATIENCE = { timeout: 30_000 };
const secrets = new PlantedSecrets();
/** Those in paths and queries of URLs: the event store has them by design, and who asks it shows them; logs don't. */
const inUrls = new PlantedSecrets();

/** By path: how what is sent there ends. */
const ENDINGS = {
  cash_in: { '/takes': 'delivered', '/recovers': 'delivered', '/fails': 'exhausted' },
  cash_out: { '/gone': 'exhausted', '/redirects': 'exhausted', '/no-http': 'exhausted' },
  refund_in: { '/breaks-off': 'exhausted', '/asks-to-wait': 'exhausted' },
  refund_out: { '/updated': 'delivered' },
  med_created: { '/of-the-command': 'delivered', '/idempotent': 'delivered' },
} as const;

const payment = (type: string) => JSON.stringify({ id: `pay-${type}`, type, accountId: ACCOUNT, timestamp: 'now' });

let scene: FaultScene;
let planted: PlantedInstallation;
let service: Service;
let account: Account;
let client: PlantedClient;
/** What each path was registered with last. */
const values = new Map<string, string>();

const urlOf = (path: string) => `${scene.receiver.url}${path}?key=${inUrls.plant(`the URL of ${path}`)}`;

async function register(path: string, eventType: string, more: { url?: string; key?: string } = {}) {
  const value = secrets.plantValue(`the header of ${path}`);
  values.set(path, value);
  const url = more.url ?? urlOf(path);
  const headers = more.key ? { 'idempotency-key': more.key } : {};
  const request = { body: { url, eventType, headers: [{ key: ECHOED, value }] }, headers };
  expect(await client.ask(request)).toMatchObject({ status: 200 });
  return request;
}

const listed = async () => {
  const { text } = await client.ask({ method: 'GET' });
  return (JSON.parse(text) as { webhooks: { id: number; url: string; headers: object }[] }).webhooks;
};
const idOf = async (path: string) => (await listed()).find(({ url }) => url.includes(path))?.id ?? 0;

beforeAll(async () => {
  scene = await FaultScene.open(undefined, { respond: echoing(), settings: plantedSettings(secrets) });
  planted = new PlantedInstallation(scene, secrets);
  service = await scene.serve();
  account = await planted.account(['register', String(ACCOUNT)]);
  client = new PlantedClient(service.url, await planted.token(service, account));
});

afterAll(() => scene?.close());

test('webhooks are registered, changed, removed, and refused', async () => {
  for (const [type, endings] of Object.entries(ENDINGS))
    for (const path of Object.keys(endings).filter((name) => !/command|idempotent/.test(name)))
      await register(path, type);
  const updated = (await listed()).find(({ url }) => url.includes('/updated'))?.url;
  await register('/updated', 'refund_out', updated ? { url: updated } : {});
  for (const path of ['/removed', '/inactive']) await register(path, 'refund_out');
  await client.ask({ method: 'DELETE', path: `/api/webhooks/${await idOf('/removed')}` });
  const inactive = `/api/webhooks/${await idOf('/inactive')}`;
  await client.ask({ method: 'PATCH', path: inactive, body: { isActive: false } });

  const key = secrets.plant('Idempotency-Key');
  const first = await register('/idempotent', 'med_created', { key });
  expect(await client.ask(first)).toMatchObject({ status: 200 });
  const other = { ...first.body, headers: [{ key: ECHOED, value: secrets.plantValue('another request') }] };
  expect(await client.ask({ ...first, body: other })).toMatchObject({ status: 422 });

  expect(await sendRefused(client, secrets)).toEqual([]);
  expect((await listed()).find(({ url }) => url.includes('/takes'))?.headers).toEqual({
    [ECHOED]: values.get('/takes'),
  });
});

test('a session is opened, entered and used, and a signing secret is replaced', async () => {
  const [last] = (await client.ask({ path: '/api/signing-secrets' })).text.match(/whsec_[^"]+/) ?? [];
  const bytes = Buffer.from((last ?? '').replace('whsec_', ''), 'base64');
  secrets.plant('a signing secret of the API', last, bytes);
  const { text } = await client.ask({
    path: '/api/portal-sessions',
    body: { can: ['read', 'secrets'], user: 'maria' },
  });
  const code = String(/#code=([^"]+)/.exec(text)?.[1]);
  secrets.plant('a one-time code', code.split('.')[2]);
  const anonymous = { authorization: '' };
  const enter = (body: object) => client.ask({ path: '/console/session', headers: anonymous, body });
  const { status, headers } = await enter({ code });
  expect(status).toBe(200);
  const cookie = String(headers.get('set-cookie')?.split(';')[0]);
  secrets.plant('the cookie of a session', cookie.split('.')[2]);

  const browser = new PlantedClient(service.url, null);
  const named = { 'x-console': String(/ps_\w+/.exec(cookie)) };
  const ask = (method: string, path: string, more: object = named) =>
    browser.ask({ method, path, headers: { cookie, ...more } });
  const shown = ['/console/session', '/api/history', '/api/portal-sessions', '/api/signing-secrets'];
  for (const path of shown) expect((await ask('GET', path)).status).toBe(200);
  const wrong = [
    enter({ code }),
    enter({ code: `${code}x` }),
    enter({ code: [code] }),
    client.ask({ method: 'GET', path: `/console/session?code=${code}`, headers: anonymous }),
    ask('DELETE', '/console/session', {}),
    ask('POST', '/api/webhooks'),
    ask('DELETE', `/api/portal-sessions/${code}`),
  ];
  expect((await Promise.all(wrong)).map((answer) => answer.status)).toEqual([400, 400, 400, 401, 401, 403, 404]);
  expect((await ask('DELETE', '/console/session')).status).toBe(200);
  expect((await ask('GET', '/console/session')).status).toBe(401);
  planted.said.push(...browser.answers);
});

test('commands are given secrets, and say what they are to say', async () => {
  const { clientId, clientSecret } = account;
  const url = ['--url', service.url];
  const credentials = ['--client-id', clientId, '--client-secret'];
  const { stdout: token } = await planted.command(['token', ...credentials, clientSecret, ...url], {
    showsSecrets: true,
  });
  secrets.plant('token of the command', signatureOf(token));
  const add = async (header: string, more: readonly string[] = []) =>
    planted.command(['webhooks', 'add', urlOf('/of-the-command'), 'med_created', '--header', header, ...more], {
      stdin: token,
    });
  const value = secrets.plantValue('the header of the command');
  values.set('/of-the-command', value);
  expect(await add(`${ECHOED}: ${value}`, url)).toMatchObject({ code: 0 });
  const planting = () => secrets.plant('given to a command by mistake');
  const mistakes = [
    add(planting(), url),
    add(`Host: ${planting()}`, url),
    add(`X-A: ${planting()}`, ['--url', `http://user:${planting()}@127.0.0.1:1`]),
    planted.command(['webhooks', 'list', ...url, '--token', planting()]),
    planted.command(['webhooks', 'list', `--tokn=${planting()}`]),
    planted.command(['token', ...credentials, planting(), ...url]),
    planted.command(['token', ...credentials, 'a', planting()]),
    planted.command(['accounts', 'register', String(ACCOUNT)]),
  ];
  for (const mistake of mistakes) expect((await mistake).code).toBeGreaterThan(0);
});

test('deliveries end in every way, at receivers that throw back what they are sent', async () => {
  for (const { id } of await listed())
    expect((await client.ask({ path: `/api/webhooks/${id}/test` })).status).toBe(200);
  await planted.account(['rotate-secret', String(ACCOUNT)]);
  const payments = ['no payment', ...Object.keys(ENDINGS).map(payment)].join('\n');
  await planted.command(['events', 'publish'], { stdin: payments });
  const due = Object.values(ENDINGS).flatMap((endings) => Object.values(endings));
  const outcomes = async () => {
    const { stdout } = await planted.command(['deliveries', 'list', '--account', String(ACCOUNT), '--json']);
    return jsonLines(stdout).map(({ outcome }) => outcome);
  };
  await eventually(async () => {
    const seen = await outcomes();
    return seen.length === due.length && !seen.includes('retrying');
  }, PATIENCE);
  expect((await outcomes()).sort()).toEqual([...due].sort());
  const seen = scene.receiver.requests.map(({ path, headers }) => `${path.split('?')[0]} ${headers['x-secret']}`);
  for (const [path, secret] of values) {
    if (!/removed/.test(path)) expect(seen).toContain(`${path} ${secret}`);
  }
});

test('auditors ask, and so do supervisors and strangers', async () => {
  const at = new Date().toISOString();
  const period = ['--from', '2020-01-01', '--to', new Date(Date.now() + 60_000).toISOString()];
  const asked = [
    ['dead-letters', 'list'],
    ['dead-letters', 'list', '--json'],
    ['deliveries', 'list', '--account', String(ACCOUNT)],
    ['audit', 'completeness', ...period],
    ['audit', 'log', '--account', String(ACCOUNT)],
    ['audit', 'log', '--account', String(ACCOUNT), '--json'],
    ['audit', 'at', '--account', String(ACCOUNT), '--time', at, '--json'],
    ['projections', 'deploy'],
    ['projections', 'verify'],
  ];
  for (const args of asked) await planted.command(args);
  for (const { id } of await listed()) await client.ask({ method: 'GET', path: `/api/webhooks/${id}/deliveries` });
  const reads = ['/api/webhooks/health', '/api/events?after=start', '/api/events', '/api/stats', '/api/event-types'];
  for (const path of ['/openapi.json', ...reads]) await client.ask({ method: 'GET', path });
  const admin = new PlantedClient(service.adminUrl, secrets.plant('a token on the admin port'));
  for (const path of ['/health/live', '/health/ready', '/metrics']) await admin.ask({ method: 'GET', path });
  planted.said.push(...admin.answers);
  const another = await planted.account(['register', '43']);
  const stranger = new PlantedClient(service.url, await planted.token(service, another));
  planted.said.push({ where: "another account's list", text: (await stranger.ask({ method: 'GET' })).text });
  expect((await stranger.ask({ path: `/api/webhooks/${await idOf('/takes')}/test` })).status).toBe(404);
  for (const path of [...reads, `/api/webhooks/${await idOf('/takes')}`, `/api/webhooks?at=${at}`]) {
    await stranger.ask({ method: 'GET', path });
  }
  await planted.account(['issue-credential', '43']);
  await planted.command(['accounts', 'revoke-credential', another.clientId]);
  planted.said.push(...stranger.answers);
});

test("another issuer's keys are out of reach", async () => {
  const key = secrets.plant('the query of AUTH_JWKS_URL');
  const jwks = `http://127.0.0.1:${scene.receiver.port}/jwks?key=${key}`;
  const issued = await scene.serve({ AUTH_JWKS_URL: jwks, DATA_DIR: `${scene.settings.DATA_DIR}/another` });
  try {
    const part = (json: object) => Buffer.from(JSON.stringify(json)).toString('base64url');
    const token = `${part({ alg: 'RS256', kid: 'a' })}.${part({ sub: '42' })}.${secrets.plant('a signature')}`;
    const asked = new PlantedClient(issued.url, token);
    expect((await asked.ask({ method: 'GET' })).status).toBe(503);
    const ready = await (await fetch(`${issued.adminUrl}/health/ready`)).text();
    expect(ready).toContain('AUTH_JWKS_URL');
    planted.said.push({ where: 'what /health/ready says of the issuer', text: ready });
    expect(issued.log()).toContain('AUTH_JWKS_URL');
    planted.said.push(...asked.answers);
  } finally {
    await issued.stop('SIGTERM');
    planted.noteOutput(issued);
  }
});

const away: readonly [string, (secret: string) => Settings][] = [
  ['EVENT_STORE_URL', (secret) => ({ EVENT_STORE_URL: `esdb://admin:${secret}@127.0.0.1:1?tls=false` })],
  [
    'KAFKA_SASL_PASSWORD',
    (KAFKA_SASL_PASSWORD) => ({
      BROKER_URL: 'kafka://127.0.0.1:1',
      ...{ KAFKA_SASL_MECHANISM: 'PLAIN', KAFKA_SASL_USERNAME: 'webhooks', KAFKA_SASL_PASSWORD },
    }),
  ],
];
test.each(away)('a server whose password is in %s is out of reach', async (name, settings) => {
  const more = { ...settings(secrets.plant(`the password in ${name}`)), DATA_DIR: `${scene.settings.DATA_DIR}/away` };
  expect((await planted.command(['doctor'], { more })).code).toBe(1);
  const starting = await startServing({ ...scene.settings, ...more });
  await eventually(() => /unavailable; retrying/.test(starting.log()), PATIENCE);
  expect(await starting.stop('SIGTERM')).toBe(0);
  planted.said.push({ where: `stderr of serve, ${name}`, text: starting.log() });
});

test('nothing of it is in the files of DATA_DIR, or the topics', async () => {
  const files = planted.files();
  const records = await planted.records();
  expect(records.length).toBeGreaterThan(20);
  expect(leaks(secrets, [...files, ...records])).toEqual([]);
  expect(leaks(inUrls, records)).toEqual([]);
  // The search sees these places: URLs are there by design.
  expect(leaks(inUrls, files).some(({ where }) => where.startsWith('read-model.sqlite'))).toBe(true);
});

test('a store fails for good, and the log says so', async () => {
  renameTable(scene.settings.DATA_DIR ?? '');
  const value = secrets.plantValue('a header while the store fails');
  const body = { url: urlOf('/takes-too'), eventType: 'med_rejected', headers: [{ key: ECHOED, value }] };
  const failing = client.ask({ body }).then(
    ({ status }) => status,
    () => 'the process ended',
  );
  expect([503, 'the process ended']).toContain(await failing);
  planted.noteOutput(service);
  await service.stop('SIGTERM');
  expect(service.log()).toMatch(/"level":[456]0/);
});

test('nothing of it was said: by the service, its answers, or its commands', () => {
  const log = { where: 'stderr of serve to its end', text: service.log() };
  expect(log.text).toContain('a delivery is exhausted');
  expect(log.text).toContain('a test event was sent');
  const said = [...planted.said, ...client.answers, log];
  expect(said.length).toBeGreaterThan(100);
  expect(leaks(secrets, said)).toEqual([]);
  // URLs are for who asks the store for them.
  const shown = /audit|stdout of webhooks list|GET \/api\/history/;
  expect(
    leaks(
      inUrls,
      [...planted.said, log].filter(({ where }) => !shown.test(where)),
    ),
  ).toEqual([]);
});

/** The event store fails for good, with the driver's longest message. */
function renameTable(dataDir: string): void {
  const database = new (driver())(join(dataDir, 'store.sqlite'));
  database.exec('ALTER TABLE events RENAME TO gone');
  database.close();
}
