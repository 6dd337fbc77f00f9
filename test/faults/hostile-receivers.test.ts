/**
 * One service, a healthy URL, and one URL of each hostile kind. The healthy URL gets its events as if the others did
 * not exist; each hostile delivery ends as it should, and no connection and no memory is left behind.
 */
import type { DeadLetter } from '../../src/delivery/dead-letters.js';
import { type DeliveryView, deliveryTopics } from '../../src/delivery/log/delivery-log.js';
import { isStarved, patience } from '../runner/patience.js';
import { commandLine } from '../support/clients/in-process-cli.js';
import { peakMemoryMiB } from '../support/clients/process-stats.js';
import { jsonLines } from '../support/clients/service.js';
import { eventually } from '../support/clocks/eventually.js';
import { FaultScene } from '../support/scenes/fault-scene.js';
import { allStatuses } from '../support/scenes/scratch-in-memory.js';
import { paymentEvents } from '../support/scenes/story.js';
import { HOSTILE_KINDS, type HostileEndpoint, type HostileKind } from '../support/servers/hostile-endpoints.js';

const HEALTHY = 1;
const HEALTHY_EVENTS = 300;
/** Most URLs of an account for one event type. */
const MOST_URLS = 3;
/**
 * A URL that hangs has one attempt at a time: with more events, some deliveries would reach their lifetime before the
 * third attempt.
 */
const EVENTS = 1;
const ATTEMPTS = 3;
const SETTINGS = {
  DELIVERY_TIMEOUT: '3s',
  RETRY_SCHEDULE: '200ms,400ms',
  // Half of it is for proven endpoints.
  DELIVERY_CONCURRENCY: '48',
};
const PATIENCE_MS = 60_000;
const PATIENCE = { timeout: PATIENCE_MS };
const SLOWER_BY_MS = 1_000;
const GROWS_BY_MIB = 100;

interface Hostile extends HostileKind, HostileEndpoint {
  readonly accountId: number;
}

let scene: FaultScene | undefined;
const hostiles: Hostile[] = [];
afterEach(async () => {
  await scene?.close();
  for (const hostile of hostiles) await hostile.close();
});

test('the healthy URL does not feel the hostile ones, and with each of these a delivery ends as it should', async () => {
  for (const [place, kind] of HOSTILE_KINDS.entries()) {
    hostiles.push({ ...kind, ...(await kind.start()), accountId: HEALTHY + 1 + Math.floor(place / MOST_URLS) });
  }
  scene = await FaultScene.open(undefined, { settings: SETTINGS, ports: hostiles.map(({ port }) => port) });
  const service = await scene.serve();
  const accounts = [...new Set(hostiles.map(({ accountId }) => accountId))];
  await scene.account(service, HEALTHY, scene.urls('/healthy'));
  // One after the other: each is a separate process, and on a busy machine ten of them starve one another of the file.
  for (const id of accounts) {
    await scene.account(service, id, hostiles.filter(({ accountId }) => accountId === id).map(urlOf));
  }

  const alone = await p99(scene, 'alone-');
  const memory = peakMemoryMiB(service.pid);
  await scene.publish(accounts.map((id) => paymentEvents(id, EVENTS, `hostile-${id}-`)).join(''), []);
  await eventually(() => hostiles.filter(({ open }) => open() > 0).length > 3, PATIENCE);
  const beside = await p99(scene, 'beside-');
  const ends = await allEnded(scene, accounts);

  const expected = hostiles.flatMap(({ accountId, ends }) => Array<string>(EVENTS).fill(`${accountId} ${ends}`));
  expect(ends.map(({ accountId, outcome }) => `${accountId} ${outcome}`).sort()).toEqual(expected.sort());
  const letters = await listed<DeadLetter>(scene, 'dead-letters', 'list');
  const exhausted = ends.filter(({ outcome }) => outcome === 'exhausted');
  // On a starved machine the lifetime of a delivery may be over after its first attempt.
  const fewest = isStarved() ? 1 : ATTEMPTS;
  expect(exhausted.every(({ attempts: { length } }) => length >= fewest && length <= ATTEMPTS)).toBe(true);
  expect(letters.map(({ deliveryId }) => deliveryId).sort()).toEqual(exhausted.map(({ id }) => id).sort());
  await eventually(() => hostiles.every((hostile) => hostile.open() === 0), PATIENCE);
  const grown = peakMemoryMiB(service.pid) - memory;
  expect(await service.stop('SIGTERM')).toBe(0);

  const times = `p99 ${alone} ms alone, ${beside} ms beside them; memory ${memory} + ${grown} MiB`;
  const hostileEnds = `${exhausted.length} exhausted, ${ends.length - exhausted.length} delivered`;
  const verdict = scene.oracle.report(`${hostiles.length} hostile URLs: ${hostileEnds}; ${times}; the healthy one`);
  // On a very busy machine a healthy attempt may time out too; then it is sent twice.
  expect(verdict).toMatchObject({ pairs: 2 * HEALTHY_EVENTS, lost: 0, differing: 0, unexpected: 0 });
  expect(beside).toBeLessThan(5 * alone + SLOWER_BY_MS * patience());
  expect(grown).toBeLessThan(GROWS_BY_MIB);
});

const urlOf = ({ port, name }: Hostile) => `https://localhost:${port}/${name.replaceAll(' ', '-')}`;

/** 99th percentile from publication to receipt, ms. */
async function p99(scene: FaultScene, name: string): Promise<number> {
  const published = await scene.publish(paymentEvents(HEALTHY, HEALTHY_EVENTS, name), scene.urls('/healthy'));
  await scene.nothingLost(PATIENCE_MS);
  const times = scene.receiver.requests.flatMap(({ body, at }) => {
    const from = published.get((JSON.parse(body.toString()) as { id: string }).id);
    return from === undefined ? [] : [at - from];
  });
  return times.sort((a, b) => a - b)[Math.floor(0.99 * times.length)] ?? Number.NaN;
}

/** The deliveries to the hostile URLs, once each has ended. */
async function allEnded(scene: FaultScene, accounts: readonly number[]): Promise<DeliveryView[]> {
  const count = 2 * HEALTHY_EVENTS + HOSTILE_KINDS.length * EVENTS;
  await scene.withBroker(({ broker }, topics) => {
    const ended = async () => {
      const all = await allStatuses(deliveryTopics(broker, topics));
      return all.filter(({ outcome }) => outcome !== 'retrying').length === count;
    };
    return eventually(ended, { ...PATIENCE, message: 'a delivery has no end' });
  });
  const lists = accounts.map((id) => listed<DeliveryView>(scene, 'deliveries', 'list', '--account', String(id)));
  return (await Promise.all(lists)).flat();
}

async function listed<T>(scene: FaultScene, ...command: string[]): Promise<T[]> {
  const { stdout } = await commandLine(scene.settings, [...command, '--json']);
  return jsonLines<T>(stdout);
}
