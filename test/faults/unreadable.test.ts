/** A row that cannot be read becomes one dead letter, and its topic goes on (on Kafka: test/contract/broker/unreadable.ts). */
import { undoneAfterEach } from '../support/at-end.js';
import { eventually } from '../support/eventually.js';
import { commandLine } from '../support/in-process-cli.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { scrape } from '../support/scrape.js';
import { type Service, type Settings, serve } from '../support/service.js';
import { poisonTopic } from '../support/sqlite-subjects.js';
import { addWebhook, installation, paymentEvents, publishEvents, register, tokenFor } from '../support/story.js';

const ACCOUNT = 7;
const TOPIC = 'payment-events';
const PATIENCE = { timeout: 30_000 };

const atEnd = undoneAfterEach();

interface Story {
  readonly settings: Settings;
  readonly receiver: Receiver;
  readonly service: Service;
}

async function begin(): Promise<Story> {
  const receiver = await startReceiver();
  atEnd(() => receiver.close());
  const { settings, remove } = await installation([receiver]);
  atEnd(remove);
  const service = await serve(settings);
  atEnd(() => service.stop('SIGKILL'));
  const token = await tokenFor(service.url, await register(settings, ACCOUNT));
  expect(await addWebhook(service.url, token, { url: `${receiver.url}/in`, eventType: 'cash_in' })).toBe(200);
  return { settings, receiver, service };
}

const lines = (prefix: string) => paymentEvents(ACCOUNT, 3, prefix).trim().split('\n');
const bodies = ({ receiver }: Story) => receiver.requests.map(({ body }) => body.toString());

function delivered(story: Story, events: readonly string[]): Promise<unknown> {
  return eventually(() => events.every((event) => bodies(story).includes(event)), PATIENCE);
}

/** Log, metric, dead letters and audit have the batch; readiness has nothing to say. */
async function toldOf({ settings, service }: Story): Promise<void> {
  expect(service.log()).toMatch(/"topic":"[^"]+","partition":\d+,.*a batch cannot be read and becomes a dead letter/);
  const metrics = await scrape(service.adminUrl);
  expect(metrics.value('account_webhooks_dead_letters_total', { reason: 'unreadable-batch' })).toBe(1);
  expect(await (await fetch(`${service.adminUrl}/health/ready`)).text()).not.toContain(TOPIC);
  const audit = () =>
    commandLine(settings, ['audit', 'completeness', '--from', '2026-01-01', '--to', '2100-01-01', '--json']);
  // The receiver has the event before the log does.
  await eventually(async () => summaryOf((await audit()).stdout).waiting === 0, PATIENCE);
  const { code, stdout } = await audit();
  expect([code, summaryOf(stdout)]).toMatchObject([0, { unreadable: 1, unanswered: 0 }]);
  const letters = await commandLine(settings, ['dead-letters', 'list', '--json']);
  expect(JSON.parse(letters.stdout)).toMatchObject({
    reason: 'unreadable-batch',
    source: expect.stringContaining(`${TOPIC}/0/`),
    lastOffset: expect.any(Number),
    digest: expect.any(String),
    after: expect.any(Number),
  });
  const { stdout: replayed, stderr } = await commandLine(settings, ['dead-letters', 'replay']);
  expect([replayed, stderr]).toEqual(['0 replayed\n', expect.stringContaining('1 not replayed: batches that still')]);
}

function summaryOf(stdout: string): Readonly<Record<string, unknown>> {
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}') as Readonly<Record<string, unknown>>;
}

test('a row that can not be read becomes a dead letter, and the payments behind it are delivered', async () => {
  const story = await begin();
  const { settings } = story;
  const [before, behind] = [lines('before-'), lines('behind-')];
  await publishEvents(settings, before.join('\n'));
  await delivered(story, before);
  poisonTopic(String(settings.DATA_DIR), TOPIC);
  await publishEvents(settings, behind.join('\n'));
  await delivered(story, behind);
  await toldOf(story);
});
