import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type OwnServer, startOwnServer } from '../services/eventstoredb/own-server.js';
import { commandLine } from '../support/clients/in-process-cli.js';
import { type ServiceHere, serveHere } from '../support/clients/in-process-service.js';
import { jsonLines, type Service } from '../support/clients/service.js';
import { FaultScene } from '../support/scenes/fault-scene.js';
import { addWebhook, listWebhooks } from '../support/scenes/story.js';

const ACCOUNT = 42;
const WAY_OUT = 'account-webhooks store accept';

let scene: FaultScene;
afterEach(() => scene.close());

const post = ({ url }: Pick<Service, 'url'>, token: string, target: string) =>
  addWebhook(url, token, { url: target, eventType: 'cash_in' });
const total = async (service: Pick<Service, 'url'>, token: string) =>
  (await listWebhooks(service, token)).webhooks.length;

/** In this process: for what a service leaves behind, and what it answers. How one ends is seen of processes. */
async function serving(): Promise<ServiceHere> {
  const service = await serveHere(scene.settings);
  scene.onClose(() => service.stop());
  return service;
}

/** What doctor, and a start, say of the store that is there. */
async function expectRefused(how: string): Promise<void> {
  const { code, stdout } = await commandLine(scene.settings, ['doctor', '--json']);
  expect(code).toBe(1);
  expect(jsonLines(stdout).find(({ check }) => check === 'history')).toMatchObject({
    verdict: 'FAIL',
    says: expect.stringMatching(how),
    todo: expect.stringContaining(WAY_OUT),
  });
  await expect(scene.serve()).rejects.toThrow(new RegExp(`account-webhooks: the event store ${how}.*${WAY_OUT}`));
}

async function accept(): Promise<{ storeId: string }> {
  const { code, stdout, stderr } = await commandLine(scene.settings, ['store', 'accept', '--json']);
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

const inDataDir = (name: string) => join(String(scene.settings.DATA_DIR), name);

describe('the embedded store', () => {
  const removeStore = () => {
    for (const suffix of ['', '-wal', '-shm']) rmSync(inDataDir(`store.sqlite${suffix}`), { force: true });
  };

  beforeEach(async () => {
    scene = await FaultScene.open();
  });

  async function withAccount<S extends Pick<Service, 'url'>>(start: () => Promise<S>) {
    const service = await start();
    return { service, token: await scene.account(service, ACCOUNT, scene.urls('/up')) };
  }

  test.each([
    ['is gone', () => undefined],
    ['has 0 bytes', () => writeFileSync(inDataDir('store.sqlite'), '')],
  ])('that %s is told by doctor and refused by serve, until it is accepted', async (_, leave) => {
    const { service, token } = await withAccount(serving);
    await service.stop();
    removeStore();
    leave();
    await expectRefused('is empty or a different one than before');
    expect(await accept()).toEqual({ storeId: expect.any(String) });
    expect(existsSync(inDataDir('read-model.sqlite'))).toBe(false);
    const after = await scene.serve();
    expect((await listWebhooks(after, token)).status).toBe(404);
    expect(await after.stop('SIGTERM')).toBe(0);
  });

  test('that is replaced while the service runs ends it with code 1 and the way out', async () => {
    const { service } = await withAccount(() => scene.serve());
    removeStore();
    expect(await service.exited).toBe(1);
    expect(service.log()).toMatch(/account-webhooks: the event store was replaced.*store accept/);
  });

  test('is not accepted beside a running service, which goes on', async () => {
    const { service, token } = await withAccount(() => scene.serve());
    const { code, stderr } = await commandLine(scene.settings, ['store', 'accept']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('the service runs (DATA_DIR is in use by')]);
    expect(await post(service, token, scene.urls('/second')[0] ?? '')).toBe(200);
    expect(await total(service, token)).toBe(2);
  });
});

describe('a server', () => {
  let server: OwnServer;
  beforeEach(async () => {
    server = await startOwnServer();
    const settings = { EVENT_STORE_URL: server.url, MASTER_KEY: Buffer.alloc(32, 7).toString('base64') };
    scene = await FaultScene.open(undefined, { settings });
    scene.onClose(() => server.stop());
  });

  test('that is restored under a running service ends it; accepted, it is served as it is', async () => {
    const service = await scene.serve();
    const token = await scene.account(service, ACCOUNT, scene.urls('/up'));
    const restore = await server.backup();
    expect(await post(service, token, scene.urls('/lost')[0] ?? '')).toBe(200);
    await restore();
    expect(await service.exited).toBe(1);
    expect(service.log()).toMatch(
      /account-webhooks: the event store (ends earlier|has other events) than before.*store accept/,
    );
    await expectRefused('(ends earlier|has other events) than before');
    await accept();
    expect(await total(await serving(), token)).toBe(1);
  });

  test('that is restored without what only a process in memory knew of is refused by the next start too', async () => {
    const service = await scene.serve();
    const token = await scene.account(service, ACCOUNT, scene.urls('/up'));
    // As after a restore in the moment between an acknowledged event and its folding: store and read model agree.
    await service.stop('SIGTERM');
    const readModel = readFileSync(inDataDir('read-model.sqlite'));
    const restore = await server.backup();
    const again = await scene.serve();
    expect(await post(again, token, scene.urls('/lost')[0] ?? '')).toBe(200);
    await restore();
    expect(await again.exited).toBe(1);
    for (const suffix of ['-wal', '-shm']) rmSync(inDataDir(`read-model.sqlite${suffix}`), { force: true });
    writeFileSync(inDataDir('read-model.sqlite'), readModel);
    await expectRefused('(ends earlier|has other events) than before');
    await accept();
    expect(await total(await serving(), token)).toBe(1);
  });
});
