import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, renameSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { dirname, join } from 'node:path';
import { examined } from '../support/clients/examined.js';
import { serveHere } from '../support/clients/in-process-service.js';
import { readiness, run, type Settings } from '../support/clients/service.js';
import { installation, register } from '../support/scenes/story.js';
import { startIssuer } from '../support/servers/issuer.js';
import { startMuteKafka } from '../support/servers/mute-kafka.js';
import { listen } from '../support/servers/receiver.js';

const newKey = () => randomBytes(32).toString('base64');

let settings: Settings;
let dataDir: string;
let folder: string;
const cleanups: (() => unknown)[] = [];

beforeAll(async () => {
  const installed = await installation([]);
  cleanups.push(installed.remove);
  settings = { ...installed.settings, PORT: '0', ADMIN_PORT: '0' };
  dataDir = String(settings.DATA_DIR);
  folder = dirname(dataDir);
  await register(settings, 42);
});
afterAll(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
});

async function listening(server: Server): Promise<string> {
  const listener = await listen(server);
  cleanups.push(() => listener.close());
  return String(listener.port);
}

/** Names and contents. */
function fingerprint(): string[] {
  const hashOf = (name: string) =>
    createHash('sha256')
      .update(readFileSync(join(dataDir, name)))
      .digest('hex');
  return readdirSync(dataDir).map((name) => `${name} ${hashOf(name)}`);
}

test('finds nothing wrong where nothing is, and changes nothing', async () => {
  const before = fingerprint();
  const { code, troubles, of } = await examined(settings);
  expect({ code, troubles }).toEqual({ code: 0, troubles: [] });
  expect(of('MASTER_KEY')).toEqual(['ok opens all sealed values (1)']);
  expect(fingerprint()).toEqual(before);
});

test('without --json, a line says verdict, check, sentence and what to do', async () => {
  const good = await run(settings, ['doctor']);
  expect(good.stdout.split('\n')).toContain('ok    event store: reading, appending and subscribing work');
  const { stdout, stderr, code } = await run({ ...settings, PORT: 'x' }, ['doctor']);
  expect(stdout).toBe(
    'FAIL  settings: PORT must be a port from 0 to 65535. To do: correct the setting: see docs/settings.md\n',
  );
  expect({ stderr, code }).toEqual({ stderr: 'account-webhooks: 1 problem found\n', code: 1 });
});

test('a forward proxy is ignored: doctor says what to allow instead, and so does a start, without the proxy', async () => {
  const proxied = { ...settings, HTTPS_PROXY: 'http://planted:secret@proxy:3128', NO_PROXY: '*' };
  const [found] = (await examined(proxied)).results.filter(({ check }) => check === 'forward proxy');
  const says = 'deliveries use no forward proxy: HTTPS_PROXY is ignored';
  expect(found).toMatchObject({ verdict: 'warn', says });
  const service = await serveHere(proxied);
  await service.stop();
  expect(service.log().split(`${says}; ${found?.todo}`)).toHaveLength(2);
  expect(service.log()).not.toContain('planted');
});

describe('beside a running service', () => {
  test('says that it answers, and is ready', async () => {
    const service = await serveHere(settings);
    const ports = { PORT: new URL(service.url).port, ADMIN_PORT: new URL(service.adminUrl).port };
    const { code, troubles, of } = await examined({ ...settings, ...ports });
    const stillReady = (await readiness(service)).httpStatus;
    await service.stop();
    expect({ code, troubles, stillReady }).toEqual({ code: 0, troubles: [], stillReady: 200 });
    expect(of('event store')).toEqual([
      'ok the service at ADMIN_PORT reports on it, on its history, keys and accounts',
    ]);
    expect([...of('PORT'), ...of('ADMIN_PORT')]).toEqual([
      `ok ${ports.PORT} is in use, and a service of these settings runs here`,
      `ok ${ports.ADMIN_PORT} is in use, and a service of these settings runs here`,
      'ok the service is ready',
    ]);
  });
});

describe('the master key', () => {
  test('one that is lost: it is not made anew', async () => {
    const [key, elsewhere] = [join(dataDir, 'master.key'), join(folder, 'elsewhere')];
    renameSync(key, elsewhere);
    const { code, troubles } = await examined(settings);
    expect(readdirSync(dataDir)).not.toContain('master.key');
    renameSync(elsewhere, key);
    expect([code, ...troubles]).toEqual([1, expect.stringMatching(/^FAIL MASTER_KEY: .*restore the key$/)]);
  });
});

describe('another issuer', () => {
  test('has to answer, and to have keys', async () => {
    const issuer = await startIssuer();
    const AUTH_JWKS_URL = issuer.jwksUrl;
    expect((await examined({ ...settings, AUTH_JWKS_URL })).of('AUTH_JWKS_URL')).toEqual(['ok the issuer has 3 keys']);
    issuer.answerWith({ status: 200, body: '{"keys":[]}' });
    const empty = await examined({ ...settings, AUTH_JWKS_URL });
    expect([empty.code, empty.of('AUTH_JWKS_URL')]).toEqual([1, ['FAIL the JWK set has no usable keys']]);
    await issuer.close();
    const gone = await examined({ ...settings, AUTH_JWKS_URL });
    expect([gone.code, ...gone.of('AUTH_JWKS_URL')]).toEqual([
      1,
      expect.stringContaining('FAIL nothing listens at an address of the issuer (ECONNREFUSED)'),
    ]);
  });
});

describe('servers', () => {
  test('that take connections and do not answer: it ends all the same', async () => {
    const mute = await startMuteKafka();
    const store = createServer(() => undefined);
    const port = await listening(store);
    const servers = { EVENT_STORE_URL: `esdb://127.0.0.1:${port}?tls=false`, BROKER_URL: `kafka://${mute.brokers}` };
    const { code, of } = await examined({ ...settings, ...servers, MASTER_KEY: newKey() }, run);
    await mute.close();
    expect(code).toBe(1);
    expect(of('event store')).toEqual([expect.stringMatching(/^FAIL /)]);
    expect(of('broker')).toEqual([expect.stringMatching(/^FAIL .*did not answer in time/)]);
  });
});
