/** A URL that takes nothing: its deliveries come to an end, whether there was a place for an attempt or not. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openBackbone } from '../../src/composition/backbone.js';
import { readConfig } from '../../src/settings/read-config.js';
import { eventually } from '../support/eventually.js';
import { commandLine } from '../support/in-process-cli.js';
import { type ServiceHere, serveHere } from '../support/in-process-service.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import type { Settings } from '../support/service.js';
import { silentLogger } from '../support/silent-logger.js';
import { addWebhook, installation, paymentEvents, publishEvents, register, tokenFor } from '../support/story.js';

const ACCOUNT = 42;
const EVENTS = 300;
const PATIENCE_MS = 60_000;

let receiver: Receiver;
let takes = false;
let settings: Settings;
let remove: () => Promise<void>;
let service: ServiceHere;

beforeAll(async () => {
  receiver = await startReceiver({ respond: () => ({ status: takes ? 200 : 500 }) });
  const installed = await installation([receiver]);
  ({ remove } = installed);
  // Its time is 440 ms of delays and three attempts: ten failures open its breaker for longer than that.
  settings = { ...installed.settings, RETRY_SCHEDULE: '200ms,200ms', DELIVERY_TIMEOUT: '1s', DEACTIVATE_AFTER: '0s' };
  service = await serveHere(settings);
  const token = await tokenFor(service.url, await register(settings, ACCOUNT));
  await addWebhook(service.url, token, { url: receiver.url, eventType: 'cash_in' });
});

afterAll(async () => {
  await service.stop();
  await receiver.close();
  await remove();
});

const json = async (...args: string[]) => {
  const { stdout } = await commandLine(settings, [...args, '--json']);
  return stdout.split('\n').flatMap((line) => (line ? [JSON.parse(line) as Record<string, unknown>] : []));
};
async function tiersOf(of: Settings): Promise<string[]> {
  const { broker, close } = await openBackbone(readConfig(of), silentLogger);
  const topics = await broker.listTopics();
  await close();
  return topics.filter((topic) => topic.startsWith('webhooks.retry.'));
}

const letters = () => json('dead-letters', 'list');

test('each of its deliveries is a dead letter in the end, and a replay from a shell with another schedule sends them all', async () => {
  await publishEvents(settings, paymentEvents(ACCOUNT, EVENTS));
  const allEnded = async () => (await letters()).length === EVENTS;
  await eventually(allEnded, { timeout: PATIENCE_MS, message: 'not all of its deliveries have ended' });
  const outcomes = async () =>
    (await json('deliveries', 'list', '--account', String(ACCOUNT))).map(({ outcome }) => outcome);
  // Their entries are written by others than the letters.
  await eventually(async () => !(await outcomes()).includes('retrying'), { timeout: PATIENCE_MS });
  expect(await outcomes()).toEqual(Array(EVENTS).fill('exhausted'));
  expect(new Set((await letters()).map(({ reason }) => reason))).toEqual(new Set(['exhausted']));
  takes = true;
  const before = new Set(receiver.requests);
  const shell = { ...settings, RETRY_SCHEDULE: '1h' };
  const replay = () => commandLine(shell, ['dead-letters', 'replay', '--json']);
  expect(await replay()).toMatchObject({ code: 0 });
  expect(await tiersOf(shell)).toEqual(['webhooks.retry.0s', 'webhooks.retry.200ms']);
  const sent = () => new Set(receiver.requests.filter((one) => !before.has(one)).map(({ body }) => String(body)));
  // On a starved machine the time of some ends again before there is a place for them.
  const allSent = async () => {
    if (sent().size === EVENTS) return true;
    await replay();
    return false;
  };
  await eventually(allSent, { timeout: PATIENCE_MS, message: 'not all that was replayed was sent' });
});
