/** The deliveries view is filled while its process is killed again and again, and anew where its file is damaged. */
import { statSync } from 'node:fs';
import { VIEW_FILE } from '../../src/adapters/sqlite/view/deliveries-view.js';
import type { Service } from '../support/clients/service.js';
import { eventually } from '../support/clocks/eventually.js';
import { ACCOUNT } from '../support/generators/delivery-samples.js';
import { toLogRecord } from '../support/generators/log-records.js';
import { viewEqualsFold } from '../support/oracles/view-equals-fold.js';
import { FaultScene } from '../support/scenes/fault-scene.js';
import { damageFile } from '../support/scenes/sqlite-subjects.js';
import { delivered, delivery, retrying } from '../support/scenes/view-follower-fixture.js';

const DELIVERIES = 9_000;
const IN_A_RECORD = 50;
const KILLS = 4;
const PATIENCE = { timeout: 60_000 };

let scene: FaultScene;
beforeEach(async () => {
  scene = await FaultScene.open();
  await (await scene.serve()).stop('SIGTERM');
  await scene.withBroker(async ({ broker }, topics) => {
    for (let n = 0; n < DELIVERIES; n += IN_A_RECORD) {
      await broker.publish(topics.deliveries, [logged(n, n + IN_A_RECORD)]);
    }
  });
});
afterEach(() => scene.close());

/** One record; each third delivery is tried twice. */
function logged(from: number, to: number) {
  const records = Array.from({ length: to - from }, (_, n) => {
    const of = delivery(from + n);
    return n % 3 === 0 ? [retrying(of), delivered({ ...of, attempts: 1 })] : [delivered(of)];
  });
  const deliveries = records.flat().flatMap(({ value }) => JSON.parse(String(value)).deliveries);
  return toLogRecord({ deliveries });
}

const file = () => `${scene.settings.DATA_DIR}/${VIEW_FILE}`;

/** Whether the view has read the last record; a stop stores it. */
async function isCaughtUp({ adminUrl }: Service): Promise<boolean> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  const lags = [...text.matchAll(/^account_webhooks_consumer_lag_records\{.*deliveries".*\} (\d+)$/gm)];
  return lags.length > 0 && lags.every(([, lag]) => lag === '0');
}

/** When something was last written into the view, ms since the epoch. */
const written = () => statSync(`${file()}-wal`, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** Of what a service stores that reads both topics to their ends. */
async function equalsFold(): Promise<void> {
  const service = await scene.serve({}, ['--roles', 'api']);
  await eventually(() => isCaughtUp(service), PATIENCE);
  expect(await service.stop('SIGTERM')).toBe(0);
  expect(await viewEqualsFold(scene, ACCOUNT)).toBe(DELIVERIES);
}

test('kill -9 while it folds, again and again: the view equals the fold of its topics', async () => {
  for (let kill = 0; kill < KILLS; kill += 1) {
    const before = written();
    const service = await scene.starting({}, ['--roles', 'api']);
    await eventually(() => written() > before, PATIENCE);
    await service.stop('SIGKILL');
  }
  await equalsFold();
});

test('its file is damaged: the view that is made instead equals the fold of its topics', async () => {
  await equalsFold();
  damageFile(file(), 0);
  await equalsFold();
});
