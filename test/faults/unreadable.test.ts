/** A row that cannot be read becomes one dead letter, and its topic goes on (on Kafka: test/contract/broker/unreadable.ts). */
import { scrape } from '../support/clients/scrape.js';
import { eventually } from '../support/clocks/eventually.js';
import { Served } from '../support/scenes/served.js';
import { poisonTopic } from '../support/scenes/sqlite-subjects.js';
import { paymentEvents } from '../support/scenes/story.js';

const ACCOUNT = 42;
const TOPIC = 'payment-events';
const PATIENCE = { timeout: 30_000 };

const served = Served.around({ isProcess: true });

const lines = (prefix: string) => paymentEvents(ACCOUNT, 3, prefix).trim().split('\n');

function delivered(events: readonly string[]): Promise<unknown> {
  const bodies = () => served.receiver.requests.map(({ body }) => body.toString());
  return eventually(() => events.every((event) => bodies().includes(event)), PATIENCE);
}

/** Log, metric, dead letters and audit have the batch; readiness has nothing to say. */
async function toldOf(): Promise<void> {
  const { service } = served;
  expect(service.log()).toMatch(/"topic":"[^"]+","partition":\d+,.*a batch cannot be read and becomes a dead letter/);
  const metrics = await scrape(service.adminUrl);
  expect(metrics.value('account_webhooks_dead_letters_total', { reason: 'unreadable-batch' })).toBe(1);
  expect(await (await fetch(`${service.adminUrl}/health/ready`)).text()).not.toContain(TOPIC);
  const audit = () => served.command('audit', 'completeness', '--from', '2026-01-01', '--to', '2100-01-01', '--json');
  // The receiver has the event before the log does.
  await eventually(async () => summaryOf((await audit()).stdout).waiting === 0, PATIENCE);
  const { code, stdout } = await audit();
  expect([code, summaryOf(stdout)]).toMatchObject([0, { unreadable: 1, unanswered: 0 }]);
  const letters = await served.command('dead-letters', 'list', '--json');
  expect(JSON.parse(letters.stdout)).toMatchObject({
    reason: 'unreadable-batch',
    source: expect.stringContaining(`${TOPIC}/0/`),
    lastOffset: expect.any(Number),
    digest: expect.any(String),
    after: expect.any(Number),
  });
  const { stdout: replayed, stderr } = await served.command('dead-letters', 'replay');
  expect([replayed, stderr]).toEqual(['0 replayed\n', expect.stringContaining('1 not replayed: batches that still')]);
}

function summaryOf(stdout: string): Readonly<Record<string, unknown>> {
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}') as Readonly<Record<string, unknown>>;
}

test('a row that can not be read becomes a dead letter, and the payments behind it are delivered', async () => {
  expect(await served.addWebhook('/in')).toBe(200);
  const [before, behind] = [lines('before-'), lines('behind-')];
  await served.publish(before.join('\n'));
  await delivered(before);
  poisonTopic(String(served.settings.DATA_DIR), TOPIC);
  await served.publish(behind.join('\n'));
  await delivered(behind);
  await toldOf();
});
