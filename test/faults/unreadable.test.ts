/**
 * An unreadable batch stops only its own partition: it is reported wherever an operator looks, and one command skips
 * it. Kafka's batches come from Java's own producer, in each of its codecs.
 */
import { describe, expect, jest, test } from '@jest/globals';
import { startKafka } from '../services/kafka/kafka-server.js';
import { undoneAfterEach } from '../support/at-end.js';
import { damageLastByte } from '../support/damaged-segment.js';
import { eventually } from '../support/eventually.js';
import { examined } from '../support/examined.js';
import { commandLine } from '../support/in-process-cli.js';
import { kafkaInstallation } from '../support/kafka-installation.js';
import { consoleProducer, withOwnKafka } from '../support/own-kafka.js';
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

jest.setTimeout(300_000);

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

/**
 * Readiness, log, metric and doctor report the stopped partition.
 * @returns the options of the command that doctor names
 */
async function told(story: Story, topic: string): Promise<string[]> {
  const { settings, service } = story;
  const isTold = async () => (await readyBody(service)).includes(`of ${topic} is stopped at offset`);
  await eventually(isTold, PATIENCE);
  expect((await fetch(`${service.adminUrl}/health/ready`)).status).toBe(200);
  expect(service.log()).toMatch(/"topic":"[^"]+","partition":\d+,"offset":\d+,.*a batch can not be read/);
  const metrics = await scrape(service.adminUrl);
  expect(metrics.value('account_webhooks_partitions_unreadable', { topic })).toBe(1);
  // Doctor reads the group's committed offset, which follows the finding by a moment.
  const { code, finding } = await eventually(async () => {
    const seen = await examined(settings);
    const found = seen.results.find(({ check, verdict }) => check === 'partitions' && verdict === 'FAIL');
    return found && { code: seen.code, finding: found };
  }, PATIENCE);
  expect(code).toBe(1);
  expect(finding.says).toContain(`of ${topic} is stopped at offset`);
  const options = /--topic \S+ --partition \d+ --offset \d+/.exec(finding.todo ?? '')?.[0] ?? '';
  return options.split(' ');
}

async function readyBody({ adminUrl }: Service): Promise<string> {
  return (await fetch(`${adminUrl}/health/ready`)).text();
}

const skip = (settings: Settings, ...options: string[]) => commandLine(settings, ['events', 'skip', ...options]);

/** Skips the batch as doctor says, and checks the views of an auditor and an operator afterwards. */
async function stepOver(story: Story, options: readonly string[], behind: readonly string[]): Promise<void> {
  const { settings, service } = story;
  const audit = () =>
    commandLine(settings, ['audit', 'completeness', '--from', '2026-01-01', '--to', '2100-01-01', '--json']);
  const before = await audit();
  const stands = { unreadable: 1, unanswered: 1, waiting: behind.length };
  expect([before.code, summaryOf(before.stdout)]).toMatchObject([1, stands]);
  const first = await skip(settings, ...options, '--reason', 'a bad disk', '--json');
  expect([first.stderr, first.code]).toEqual(['', 0]);
  expect(JSON.parse(first.stdout)).toMatchObject({ topic: options[1], digest: expect.any(String) });
  await delivered(story, behind);
  expect(await readyBody(service)).not.toContain('stands');
  // Doctor reads the group's committed offset, which follows the skip by a moment.
  const isFine = async () =>
    (await examined(settings)).of('partitions')[0] ===
    'ok no partition is stopped, and no retry tier is without a reader';
  await eventually(isFine, PATIENCE);
  // The receiver has the event before the log does.
  await eventually(async () => summaryOf((await audit()).stdout).waiting === 0, PATIENCE);
  const after = await audit();
  expect([after.code, summaryOf(after.stdout)]).toMatchObject([0, { unreadable: 1, unanswered: 0 }]);
  const letters = await commandLine(settings, ['dead-letters', 'list', '--json']);
  expect(JSON.parse(letters.stdout)).toMatchObject({
    reason: 'unreadable',
    detail: expect.stringContaining('a bad disk'),
  });
  expect((await commandLine(settings, ['dead-letters', 'replay'])).stdout).toBe('0 replayed\n');
  expect(service.log()).not.toContain('can not go on');
}

function summaryOf(stdout: string): Readonly<Record<string, unknown>> {
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}') as Readonly<Record<string, unknown>>;
}

describe('embedded', () => {
  test('a row that can not be read stops its topic, and one command steps over it', async () => {
    const story = await begin((receiver) => installation([receiver]));
    const { settings } = story;
    const [before, behind] = [lines(3, 'before-'), lines(3, 'behind-')];
    await publishEvents(settings, before.join('\n'));
    await delivered(story, before);
    poisonTopic(String(settings.DATA_DIR), 'payment-events');
    await publishEvents(settings, behind.join('\n'));
    const options = await told(story, 'payment-events');
    const refused = await skip(
      settings,
      '--topic',
      'payment-events',
      '--partition',
      '0',
      '--offset',
      '1',
      '--reason',
      'x',
    );
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('offset 1 of partition 0')]);
    const elsewhere = await skip(settings, '--topic', 'other', '--partition', '0', '--offset', '1', '--reason', 'x');
    expect([elsewhere.code, elsewhere.stderr]).toEqual([1, expect.stringContaining('--topic other')]);
    expect(bodies(story)).toHaveLength(3);
    await stepOver(story, options, behind);
  });
});

withOwnKafka(() => {
  testInFull(
    "Java's producer is read in every codec; a damaged batch stops its partition only, until it is stepped over",
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
      await delivered(again, others);
      const options = await told(again, topic);
      expect(again.service.log()).toMatch(/"codec":"zstd","reason":"its checksum does not match"/);
      expect(bodies(again).some((body) => behind.includes(body))).toBe(false);
      await stepOver(again, options, behind);
      expect(bodies(again).some((body) => lost.includes(body))).toBe(false);
      expect(await again.service.stop('SIGTERM')).toBe(0);
    },
  );
});
