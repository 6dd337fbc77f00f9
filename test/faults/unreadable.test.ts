/** An unreadable batch becomes one dead letter, and its partition goes on. Kafka's batches come from Java's own producer. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startKafka } from '../services/kafka/kafka-server.js';
import { undoneAfterEach } from '../support/at-end.js';
import { eventually } from '../support/eventually.js';
import { commandLine } from '../support/in-process-cli.js';
import { kafkaInstallation } from '../support/kafka-installation.js';
import { consoleProducer, type OwnKafka, withOwnKafka } from '../support/own-kafka.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { scrape } from '../support/scrape.js';
import { type Service, type Settings, serve } from '../support/service.js';
import { poisonTopic } from '../support/sqlite-subjects.js';
import { addWebhook, installation, paymentEvents, publishEvents, register, tokenFor } from '../support/story.js';
import { testInFull } from '../support/thorough.js';

const ACCOUNT = 7;
const PATIENCE = { timeout: 30_000 };
/** By the partition, out of three, that a producer chooses for them. */
const KEYS = ['k2', 'k3', 'k0'];
const CODECS = ['none', 'gzip', 'snappy', 'lz4', 'zstd'];

const atEnd = undoneAfterEach();

interface Story {
  readonly settings: Settings;
  readonly receiver: Receiver;
  readonly service: Service;
}

async function begin(open: (receiver: Receiver) => ReturnType<typeof installation>): Promise<Story> {
  const receiver = await startReceiver();
  atEnd(() => receiver.close());
  const { settings, remove } = await open(receiver);
  atEnd(remove);
  const service = await serve(settings);
  atEnd(() => service.stop('SIGKILL'));
  const token = await tokenFor(service.url, await register(settings, ACCOUNT));
  expect(await addWebhook(service.url, token, { url: `${receiver.url}/in`, eventType: 'cash_in' })).toBe(200);
  return { settings, receiver, service };
}

const lines = (count: number, prefix: string) => paymentEvents(ACCOUNT, count, prefix).trim().split('\n');
const bodies = ({ receiver }: Story) => receiver.requests.map(({ body }) => body.toString());

function delivered(story: Story, events: readonly string[]): Promise<unknown> {
  return eventually(() => events.every((event) => bodies(story).includes(event)), PATIENCE);
}

/** Log, metric, dead letters and audit have the batch; readiness has nothing to say. */
async function toldOf(story: Story, topic: string): Promise<void> {
  const { settings, service } = story;
  expect(service.log()).toMatch(/"topic":"[^"]+","partition":\d+,.*a batch cannot be read and becomes a dead letter/);
  const metrics = await scrape(service.adminUrl);
  expect(metrics.value('account_webhooks_dead_letters_total', { reason: 'unreadable-batch' })).toBe(1);
  expect(await (await fetch(`${service.adminUrl}/health/ready`)).text()).not.toContain(topic);
  const audit = () =>
    commandLine(settings, ['audit', 'completeness', '--from', '2026-01-01', '--to', '2100-01-01', '--json']);
  // The receiver has the event before the log does.
  await eventually(async () => summaryOf((await audit()).stdout).waiting === 0, PATIENCE);
  const { code, stdout } = await audit();
  expect([code, summaryOf(stdout)]).toMatchObject([0, { unreadable: 1, unanswered: 0 }]);
  const letters = await commandLine(settings, ['dead-letters', 'list', '--json']);
  expect(JSON.parse(letters.stdout)).toMatchObject({
    reason: 'unreadable-batch',
    source: expect.stringContaining(`${topic}/0/`),
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

describe('embedded', () => {
  test('a row that can not be read becomes a dead letter, and the payments behind it are delivered', async () => {
    const story = await begin((receiver) => installation([receiver]));
    const { settings } = story;
    const [before, behind] = [lines(3, 'before-'), lines(3, 'behind-')];
    await publishEvents(settings, before.join('\n'));
    await delivered(story, before);
    poisonTopic(String(settings.DATA_DIR), 'payment-events');
    await publishEvents(settings, behind.join('\n'));
    await delivered(story, behind);
    await toldOf(story, 'payment-events');
  });
});

withOwnKafka(() => {
  testInFull(
    "Java's producer is read in every codec; a damaged batch becomes a dead letter, and its partition goes on",
    async () => {
      const kafka = await startKafka();
      atEnd(() => kafka.stop());
      const story = await begin((receiver) => kafkaInstallation(kafka.brokers, [receiver]));
      const { settings, service } = story;
      const topic = String(settings.PAYMENT_TOPICS);
      const produce = (codec: string, partition: number, events: readonly string[]) => {
        const keyed = events.map((event) => `${KEYS[partition]}|${event}`);
        return consoleProducer(kafka.brokers, topic, keyed, { codec, keySeparator: '|' });
      };
      const all = CODECS.map((codec, n) => ({ codec, partition: n % 3, events: lines(40, `${codec}-`) }));
      for (const { codec, partition, events } of all) await produce(codec, partition, events);
      await delivered(
        story,
        all.flatMap(({ events }) => events),
      );

      await service.stop('SIGTERM');
      const [lost, behind, others] = [lines(5, 'lost-'), lines(5, 'behind-'), lines(5, 'others-')];
      await produce('zstd', 0, lost);
      damageLastByte(kafka, { topic, partition: 0 });
      await produce('lz4', 0, behind);
      await produce('snappy', 1, others);
      const again = { ...story, service: await serve(settings) };
      atEnd(() => again.service.stop('SIGKILL'));
      await delivered(again, [...others, ...behind]);
      expect(again.service.log()).toMatch(/"codec":"zstd","reason":"its checksum does not match"/);
      await toldOf(again, topic);
      expect(bodies(again).some((body) => lost.includes(body))).toBe(false);
      expect(await again.service.stop('SIGTERM')).toBe(0);
    },
  );
});

interface Segment {
  readonly topic: string;
  readonly partition: number;
}

/** Changes the log of a running Kafka, which reads its file through the same pages. */
function damageLastByte({ folder }: Pick<OwnKafka, 'folder'>, { topic, partition }: Segment): void {
  const logs = join(folder, 'logs', `${topic}-${partition}`);
  const file = readdirSync(logs).find((name) => name.endsWith('.log'));
  if (!file) throw new Error(`${topic}-${partition} has no log`);
  const path = join(logs, file);
  const bytes = readFileSync(path);
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 0xff;
  writeFileSync(path, bytes);
}
