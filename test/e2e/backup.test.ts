import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { commandLine } from '../support/clients/in-process-cli.js';
import { type ServiceHere, serveHere } from '../support/clients/in-process-service.js';
import { run, type Service, type Settings } from '../support/clients/service.js';
import { eventually } from '../support/clocks/eventually.js';
import { FaultScene } from '../support/scenes/fault-scene.js';
import { FaultyLibc, withFaultyLibc } from '../support/scenes/faulty-libc.js';
import { listWebhooks, paymentEvents } from '../support/scenes/story.js';

const ACCOUNT = 42;
const ROUNDS = 10;

let scene: FaultScene;
let folder: string;
/** What the receiver answers to /down. */
let isDown = true;

beforeEach(async () => {
  isDown = true;
  const respond = ({ path }: { path: string }) => ({ status: path === '/down' && isDown ? 503 : 200 });
  scene = await FaultScene.open(undefined, { respond, settings: { RETRY_SCHEDULE: '2s,4s,6s' } });
  folder = dirname(String(scene.settings.DATA_DIR));
});
afterEach(() => scene.close());

const auditLog = async (settings: Settings) =>
  (await commandLine(settings, ['audit', 'log', '--account', String(ACCOUNT), '--json'])).stdout
    .split('\n')
    .filter(Boolean);

/** The webhooks as REST shows them. */
const webhooks = async (service: Pick<Service, 'url'>, token: string) => (await listWebhooks(service, token)).webhooks;

/** In this process, until the scene is closed: for what a service answers and delivers. */
async function serving(more: Settings = {}): Promise<ServiceHere> {
  const service = await serveHere({ ...scene.settings, ...more });
  scene.onClose(() => service.stop());
  return service;
}

/** Ids of the payment events that a path took. */
function takenBy(path: string): Set<string> {
  const own = scene.receiver.taken.filter((request) => request.path === path);
  return new Set(own.map(({ body }) => (JSON.parse(String(body)) as { id: string }).id));
}

async function publish(prefix: string, count: number, by = commandLine): Promise<void> {
  const published = await by(scene.settings, ['events', 'publish'], paymentEvents(ACCOUNT, count, prefix));
  if (published.code !== 0) throw new Error(published.stderr);
}

test('made under load and restored elsewhere, it has every webhook, the history, and the retries that waited', async () => {
  const service = await scene.serve();
  const token = await scene.account(service, ACCOUNT, scene.urls('/up', '/down'));
  const before = await webhooks(service, token);
  const history = await auditLog(scene.settings);
  await publish('pay-', 50);
  await eventually(() => takenBy('/up').size === 50);

  const file = join(folder, 'backup.sqlite');
  let over = false;
  const load = (async () => {
    for (let round = 1; !over && round <= ROUNDS; round += 1) await publish(`load-${round}-`, 200, run);
  })();
  const { code, stdout } = await run(scene.settings, ['backup', file]);
  over = true;
  await load;
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /store\.sqlite as it was at .*\nThe copy does not include the master key: back it up elsewhere/,
  );
  await service.stop('SIGKILL');

  const elsewhere = { ...scene.settings, DATA_DIR: join(folder, 'elsewhere') };
  mkdirSync(elsewhere.DATA_DIR);
  copyFileSync(file, join(elsewhere.DATA_DIR, 'store.sqlite'));
  copyFileSync(join(String(scene.settings.DATA_DIR), 'master.key'), join(elsewhere.DATA_DIR, 'master.key'));
  expect(await auditLog(elsewhere)).toEqual(history);
  isDown = false;
  const restored = await serving({ DATA_DIR: elsewhere.DATA_DIR });
  expect(await webhooks(restored, token)).toEqual(before);
  const ids = Array.from({ length: 50 }, (_, number) => `pay-${number}`);
  await eventually(() => ids.every((id) => takenBy('/down').has(id)), { timeout: 20_000 });
});

test('restored in place, under a read model that is ahead of it: refused until the store is accepted', async () => {
  const service = await serving();
  const token = await scene.account(service, ACCOUNT, scene.urls('/up'));
  const before = await webhooks(service, token);
  const file = join(folder, 'backup.sqlite');
  await commandLine(scene.settings, ['backup', file, '--json']);
  const body = JSON.stringify({ url: scene.urls('/late')[0], eventType: 'cash_in' });
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  expect((await fetch(`${service.url}/api/webhooks`, { method: 'POST', headers, body })).status).toBe(200);
  await service.stop();
  const store = join(String(scene.settings.DATA_DIR), 'store.sqlite');
  for (const suffix of ['', '-wal', '-shm']) rmSync(store + suffix, { force: true });
  copyFileSync(file, store);
  const refused = 'the event store ends earlier than before: it was restored';
  const told = await commandLine(scene.settings, ['doctor']);
  expect([told.code, told.stdout]).toEqual([1, expect.stringContaining(refused)]);
  await expect(scene.serve()).rejects.toThrow(refused);
  const accepted = await commandLine(scene.settings, ['store', 'accept', '--json']);
  expect(JSON.parse(accepted.stdout)).toEqual({ storeId: expect.any(String) });
  const restored = await serving();
  expect(await webhooks(restored, token)).toEqual(before);
});

test('on servers there is no store.sqlite: exit code 2', async () => {
  const servers = { EVENT_STORE_URL: 'esdb://127.0.0.1:1', BROKER_URL: 'kafka://127.0.0.1:1' };
  const MASTER_KEY = Buffer.alloc(32, 1).toString('base64');
  const { code, stdout, stderr } = await commandLine({ ...scene.settings, ...servers, MASTER_KEY }, ['backup', 'file']);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain('these settings use no store.sqlite');
});

describe('a disk that is full', () => {
  withFaultyLibc(() => {
    test('is said, and leaves nothing of the backup there', async () => {
      await scene.account(await serving(), ACCOUNT, scene.urls('/up'));
      const target = join(folder, 'full');
      mkdirSync(target);
      const libc = new FaultyLibc('/full/');
      scene.onClose(() => libc.close());
      libc.diskFull(1);
      const settings = { ...scene.settings, ...libc.settings };
      const { code, stderr } = await run(settings, ['backup', join(target, 'backup.sqlite')]);
      expect(code).toBe(1);
      expect(stderr).toMatch(/could not be made \(SQLITE_FULL\): the disk is full/);
      expect([readdirSync(target), existsSync(String(scene.settings.DATA_DIR))]).toEqual([[], true]);
    });
  });
});
