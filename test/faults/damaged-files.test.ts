/** Pages of the files in DATA_DIR are overwritten: before the start, and under a running process. */
import { closeSync, cpSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { openFile } from '../../src/adapters/sqlite/open-file.js';
import { VIEW_FILE } from '../../src/adapters/sqlite/view/deliveries-view.js';
import { commandLine } from '../support/clients/in-process-cli.js';
import { serveHere } from '../support/clients/in-process-service.js';
import { type Finished, run, type Settings, serve, strayLines } from '../support/clients/service.js';
import { eventually } from '../support/clocks/eventually.js';
import { damageFile } from '../support/scenes/sqlite-subjects.js';
import { addWebhook, installation, paymentEvents, register, tokenFor } from '../support/scenes/story.js';
import { type Receiver, startReceiver } from '../support/servers/receiver.js';

const DUE_AT_FIRST = 300;
const PATIENCE = { timeout: 30_000 };
const DAMAGED =
  /^account-webhooks: store\.sqlite is damaged \(SQLITE_(CORRUPT|NOTADB)\w*\): stop the service and restore a backup/;

let settings: Settings;
let remove: () => Promise<void>;
let receiver: Receiver;
const path = (name: string) => join(String(settings.DATA_DIR), name);

/** The files as they were before the first test: each test damages a copy. */
const whole = () => `${settings.DATA_DIR}-whole`;

beforeAll(async () => {
  receiver = await startReceiver();
  ({ settings, remove } = await installation([receiver]));
  const service = await serveHere(settings);
  for (const accountId of [1, 2, 3]) {
    const token = await tokenFor(service.url, await register(settings, accountId));
    await addWebhook(service.url, token, { url: `${receiver.url}/${accountId}`, eventType: 'cash_in' });
    await commandLine(settings, ['events', 'publish'], paymentEvents(accountId, DUE_AT_FIRST / 3, `${accountId}-`));
  }
  await eventually(() => receiver.requests.length >= DUE_AT_FIRST, PATIENCE);
  await service.stop();
  cpSync(String(settings.DATA_DIR), whole(), { recursive: true });
});
beforeEach(() => {
  rmSync(String(settings.DATA_DIR), { recursive: true });
  cpSync(whole(), String(settings.DATA_DIR), { recursive: true });
});
afterAll(async () => {
  await receiver.close();
  await remove();
});

/** Output other than log entries. */
function plainLines({ stderr }: Pick<Finished, 'stderr'>): string[] {
  return strayLines(stderr);
}

const loud = (log: string) => log.split('\n').filter((line) => /"level":([456]0)/.test(line));

test.each([
  ['from its first page on', 0],
  ['from its middle on', 40 * 1024],
])('store.sqlite is overwritten %s: the start ends with one line and code 1, and doctor says so', async (_, from) => {
  damageFile(path('store.sqlite'), from);
  for (const args of [['serve'], ['serve', '--roles', 'dispatcher']]) {
    const ended = await run({ PORT: '0', ADMIN_PORT: '0', ...settings }, args);
    expect(ended.code).toBe(1);
    expect(plainLines(ended)).toEqual([expect.stringMatching(DAMAGED)]);
    expect(loud(ended.stderr)).toEqual([]);
  }
  const doctor = await commandLine({ PORT: '0', ADMIN_PORT: '0', ...settings }, ['doctor']);
  expect({ code: doctor.code, stdout: doctor.stdout }).toEqual({
    code: 1,
    stdout: expect.stringMatching(
      /^FAIL {2}store\.sqlite: it is damaged\. To do: stop the service and restore a backup/m,
    ),
  });
});

/** Damages the table's pages in the file itself, not in the memory of a process that has the file open. */
function damageTable(name: string, table: string): void {
  const opened = openFile(path(name));
  opened.pragma('wal_checkpoint(TRUNCATE)');
  const size = opened.pragma('page_size', { simple: true }) as number;
  const pages = opened.prepare('SELECT pageno FROM dbstat WHERE name = ?').pluck().all(table) as number[];
  opened.close();
  const file = openSync(path(name), 'r+');
  for (const page of pages) writeSync(file, Buffer.alloc(size, 'damage'), 0, null, (page - 1) * size);
  closeSync(file);
}

test('store.sqlite is overwritten under a process: it ends with one line and code 1', async () => {
  const service = await serve(settings);
  const token = await tokenFor(service.url, await register(settings, 4));
  damageTable('store.sqlite', 'events');
  // Another process's write makes the service read the file again.
  const published = await commandLine(settings, ['events', 'publish'], paymentEvents(1, 1, 'later-'));
  expect(published).toMatchObject({ code: 0 });
  const status = await addWebhook(service.url, token, { url: `${receiver.url}/4`, eventType: 'cash_in' }).catch(
    () => 503,
  );
  expect(status).toBe(503);
  expect(await service.exited).toBe(1);
  expect(strayLines(service.log())).toEqual([expect.stringMatching(DAMAGED)]);
  expect(loud(service.log()).filter((line) => line.includes('"level":60'))).toHaveLength(1);
  expect(loud(service.log()).length).toBeLessThan(10);
});

test.each(['read-model.sqlite', VIEW_FILE])(
  '%s is overwritten: the start makes it again, with one line in the log',
  async (name) => {
    damageFile(path(name), 0);
    const service = await serve(settings);
    await eventually(() => loud(service.log()).length > 0, PATIENCE);
    expect(loud(service.log())).toEqual([expect.stringContaining(name)]);
    await commandLine(settings, ['events', 'publish'], paymentEvents(1, 1, `${name}-`));
    await eventually(() => receiver.requests.some(({ body }) => body.includes(`${name}-0`)), PATIENCE);
    expect(await service.stop('SIGTERM')).toBe(0);
    expect(loud(service.log())).toHaveLength(1);
  },
);

test('states of the read model that can’t be read, in a file that is whole: one line, and the next start makes it again', async () => {
  const file = openFile(path('read-model.sqlite'));
  file.exec(`UPDATE states SET state = substr(state, 1, 20) WHERE stream = 'account-2'`);
  file.close();
  const ended = await run({ PORT: '0', ADMIN_PORT: '0', ...settings }, ['serve']);
  expect(ended.code).toBe(1);
  expect(plainLines(ended)).toEqual([
    'account-webhooks: read-model.sqlite is damaged: it is thrown away, and the next start makes it again',
  ]);
  const service = await serve(settings);
  expect(await service.stop('SIGTERM')).toBe(0);
});
