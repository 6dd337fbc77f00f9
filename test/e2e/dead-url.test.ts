/** A URL that takes nothing: its deliveries come to an end, whether there was a place for an attempt or not. */
import { openBackbone } from '../../src/composition/backbone.js';
import { readConfig } from '../../src/settings/read-config.js';
import { eventually } from '../support/eventually.js';
import { commandLine } from '../support/in-process-cli.js';
import { Served } from '../support/served.js';
import type { Settings } from '../support/service.js';
import { silentLogger } from '../support/silent-logger.js';
import { paymentEvents } from '../support/story.js';

const EVENTS = 300;
const PATIENCE_MS = 60_000;

let takes = false;
const served = Served.around({
  respond: () => ({ status: takes ? 200 : 500 }),
  // Its time is 440 ms of delays and three attempts: ten failures open its breaker for longer than that.
  settings: { RETRY_SCHEDULE: '200ms,200ms', DELIVERY_TIMEOUT: '1s', DEACTIVATE_AFTER: '0s' },
});
beforeAll(() => served.addWebhook('/'));

async function tiersOf(of: Settings): Promise<string[]> {
  const { broker, close } = await openBackbone(readConfig(of), silentLogger);
  const topics = await broker.listTopics();
  await close();
  return topics.filter((topic) => topic.startsWith('webhooks.retry.'));
}

const letters = () => served.lines('dead-letters', 'list');

test('each of its deliveries is a dead letter in the end, and a replay from a shell with another schedule sends them all', async () => {
  await served.publish(paymentEvents(42, EVENTS));
  const allEnded = async () => (await letters()).length === EVENTS;
  await eventually(allEnded, { timeout: PATIENCE_MS, message: 'not all of its deliveries have ended' });
  const outcomes = async () =>
    (await served.lines('deliveries', 'list', '--account', '42')).map(({ outcome }) => outcome);
  // Their entries are written by others than the letters.
  await eventually(async () => !(await outcomes()).includes('retrying'), { timeout: PATIENCE_MS });
  expect(await outcomes()).toEqual(Array(EVENTS).fill('exhausted'));
  expect(new Set((await letters()).map(({ reason }) => reason))).toEqual(new Set(['exhausted']));
  takes = true;
  const before = new Set(served.receiver.requests);
  const shell = { ...served.settings, RETRY_SCHEDULE: '1h' };
  const replay = () => commandLine(shell, ['dead-letters', 'replay', '--json']);
  expect(await replay()).toMatchObject({ code: 0 });
  expect(await tiersOf(shell)).toEqual(['webhooks.retry.200ms']);
  const sent = () =>
    new Set(served.receiver.requests.filter((one) => !before.has(one)).map(({ body }) => String(body)));
  // On a starved machine the time of some ends again before there is a place for them.
  const allSent = async () => {
    if (sent().size === EVENTS) return true;
    await replay();
    return false;
  };
  await eventually(allSent, { timeout: PATIENCE_MS, message: 'not all that was replayed was sent' });
});
