/** Topics of a Kafka whose max.message.bytes is too low for the service's records. */
import { randomUUID } from 'node:crypto';
import kafkajs, { type Admin } from 'kafkajs';
import { eventually } from '../support/eventually.js';
import { commandLine } from '../support/in-process-cli.js';
import { serveHere } from '../support/in-process-service.js';
import { kafkaInstallation } from '../support/kafka-installation.js';
import { withKafka } from '../support/kafka-subjects.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { jsonLines, type Settings } from '../support/service.js';
import { addWebhook, register, tokenFor } from '../support/story.js';

const ACCOUNT = 42;
const PATIENCE = { timeout: 60_000 };
const { TOPIC } = kafkajs.ConfigResourceTypes;

interface Part {
  readonly part: string;
  readonly ready: boolean;
  readonly why?: string;
}

withKafka((brokers) => {
  let admin: Admin;
  let receiver: Receiver;
  let settings: Settings;
  let remove: () => Promise<void>;
  let own: string;

  beforeEach(async () => {
    admin = new kafkajs.Kafka({ brokers: brokers.split(','), logLevel: kafkajs.logLevel.NOTHING }).admin();
    await admin.connect();
    receiver = await startReceiver({ respond: () => ({ status: 500 }) });
    own = randomUUID();
    const names = {
      PAYMENT_TOPICS: `payments-${own}`,
      TOPIC_PREFIX: `${own}.`,
      KAFKA_GROUP: own,
      KAFKA_PARTITIONS: '1',
    };
    ({ settings, remove } = await kafkaInstallation(brokers, [receiver], { ...names, RETRY_SCHEDULE: '300ms' }));
  });

  afterEach(async () => {
    await receiver.close();
    await remove();
    await admin.disconnect();
  });

  const event = (id: string, text: string) =>
    `${JSON.stringify({ id, type: 'cash_in', accountId: ACCOUNT, timestamp: '2026-11-21T09:00:00Z', data: { text } })}\n`;

  const topicsOf = (bytes: number) =>
    ['webhooks.dead-letter', 'webhooks.retry.300ms'].map((name) => ({
      topic: `${own}.${name}`,
      configEntries: [
        { name: 'max.message.bytes', value: String(bytes) },
        { name: 'message.timestamp.type', value: 'LogAppendTime' },
      ],
    }));

  /** The broker takes on each topic's limit at a time of its own. */
  async function limited(bytes: number): Promise<void> {
    const resources = topicsOf(bytes).map(({ topic: name, configEntries }) => ({ type: TOPIC, name, configEntries }));
    await admin.alterConfigs({ validateOnly: false, resources });
    await eventually(async () => {
      const asked = resources.map(({ type, name }) => ({ type, name, configNames: ['max.message.bytes'] }));
      const found = (await admin.describeConfigs({ includeSynonyms: false, resources: asked })).resources;
      return found.every(({ configEntries }) => configEntries[0]?.configValue === String(bytes));
    }, PATIENCE);
  }

  async function served() {
    const service = await serveHere(settings);
    const token = await tokenFor(service.url, await register(settings, ACCOUNT));
    await addWebhook(service.url, token, { url: `${receiver.url}/in`, eventType: 'cash_in' });
    return service;
  }

  async function letters(count: number) {
    return eventually(async () => {
      const { stdout } = await commandLine(settings, ['dead-letters', 'list', '--json']);
      const found = jsonLines(stdout);
      return found.length === count && found;
    }, PATIENCE);
  }

  test('a low limit is raised at the start; one that is lowered later is an outage that says so and loses nothing', async () => {
    await admin.createTopics({ topics: topicsOf(1_000), waitForLeaders: false });
    const service = await served();
    try {
      const large = event('one', 'x'.repeat(200_000));
      await commandLine(settings, ['events', 'publish'], large);
      expect(await letters(1)).toMatchObject([
        { reason: 'exhausted', eventId: 'one', attempts: 2, value: large.trim() },
      ]);
      await limited(1_000);
      await commandLine(settings, ['events', 'publish'], event('two', 'x'.repeat(3_000)));
      const topics = await eventually(async () => {
        const body = (await (await fetch(`${service.adminUrl}/health/ready`)).json()) as { parts: Part[] };
        const found = body.parts.find(({ part }) => part === 'topics');
        return found?.ready === false && found;
      }, PATIENCE);
      const why = 'retry.300ms refuses the record (MESSAGE_TOO_LARGE): it has about 3';
      expect(topics.why).toContain(why);
      expect(await (await fetch(`${service.adminUrl}/metrics`)).text()).toMatch(
        /^account_webhooks_publish_failures_total [1-9]/m,
      );
      expect(receiver.requests).toHaveLength(3);
      await limited(1_048_576);
      expect(await letters(2)).toMatchObject([
        { eventId: 'one' },
        { reason: 'exhausted', eventId: 'two', attempts: 2 },
      ]);
      expect(receiver.requests).toHaveLength(4);
    } finally {
      await service.stop();
    }
    const period = ['--from', '2000-01-01', '--to', '2100-01-01'];
    const audit = await commandLine(settings, ['audit', 'completeness', ...period, '--json']);
    expect(JSON.parse(audit.stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({ exhausted: 2, waiting: 0 });
    expect(audit.code).toBe(0);
  });
});
