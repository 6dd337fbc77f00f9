import { randomBytes } from 'node:crypto';
import { scrape } from '../support/clients/scrape.js';
import { type Readiness, readiness, type Settings, serve, startServing } from '../support/clients/service.js';
import { eventually } from '../support/clocks/eventually.js';
import { installation } from '../support/scenes/story.js';

const PATIENCE = { timeout: 20_000 };
const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const whyNot = ({ parts }: Readiness) =>
  Object.fromEntries(parts.flatMap(({ part, ready, why }) => (ready ? [] : [[part, why]])));

async function installed(settings: Settings): Promise<Settings> {
  const made = await installation([], { open: async () => ({ settings, close: async () => undefined }) });
  cleanups.push(made.remove);
  return made.settings;
}

test('all embedded: every part is ready, and which they are depends on the roles', async () => {
  const settings = await installed({});
  const service = await serve(settings);
  cleanups.push(() => service.stop('SIGKILL'));
  const first = ['event store', 'read model', 'keys', 'broker'];
  const all = [
    ...first,
    'api',
    'dispatcher',
    'topics',
    'accounts',
    'deliveries view',
    'requests',
    'partitions',
    'consumer groups',
  ];
  await eventually(async () => Object.keys(whyNot(await readiness(service))).length === 0, PATIENCE);
  const told = await readiness(service);
  expect(told).toMatchObject({ httpStatus: 200, status: 'ready' });
  expect(told.parts.map(({ part }) => part)).toEqual(all);
  await service.stop('SIGTERM');
  const dispatcher = await serve(settings, ['--roles', 'dispatcher']);
  cleanups.push(() => dispatcher.stop('SIGKILL'));
  const parts = (await readiness(dispatcher)).parts.map(({ part }) => part);
  expect(parts).toEqual([...first, 'dispatcher', 'topics', 'accounts', 'requests', 'partitions', 'consumer groups']);
});

test('a broker that is down at the start: it is named, with why, and what waits for it', async () => {
  const key = randomBytes(32).toString('base64');
  const settings = await installed({ BROKER_URL: 'kafka://127.0.0.1:1', MASTER_KEY: key });
  const starting = await startServing(settings, ['--roles', 'dispatcher']);
  cleanups.push(() => starting.stop('SIGKILL'));
  await eventually(() => starting.log().includes('the broker is unavailable'), PATIENCE);
  const told = await readiness(starting);
  expect(told).toMatchObject({ httpStatus: 503, status: 'not ready', waitingFor: ['broker', 'dispatcher'] });
  expect(whyNot(told)).toEqual({
    broker: expect.stringMatching(/Kafka/),
    dispatcher: 'waiting for the parts before it',
  });
  expect((await fetch(`${starting.adminUrl}/health/live`)).status).toBe(200);
  const found = await scrape(starting.adminUrl);
  expect(found.value('account_webhooks_ready', { part: 'broker' })).toBe(0);
  expect(await starting.stop('SIGTERM')).toBe(0);
});
