/** Topics of a Kafka that refuse a delivery's records, for their max.message.bytes. */
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

  async function limited(name: string, bytes: number): Promise<void> {
    const configEntries = [{ name: 'max.message.bytes', value: String(bytes) }];
    const topics = [{ topic: `${own}.${name}`, numPartitions: 1, configEntries }];
    await admin.createTopics({ topics, waitForLeaders: false });
  }

  async function served() {
    const service = await serveHere(settings);
    const token = await tokenFor(service.url, await register(settings, ACCOUNT));
    await addWebhook(service.url, token, { url: `${receiver.url}/in`, eventType: 'cash_in' });
    return service;
  }

  test('a dead-letter topic that takes no letter at all: ready says so, and nothing is attempted again', async () => {
    await limited('webhooks.dead-letter', 100);
    const service = await served();
    try {
      await commandLine(settings, ['events', 'publish'], event('one', 'x'));
      const parts = await eventually(async () => {
        const response = await fetch(`${service.adminUrl}/health/ready`);
        const body = (await response.json()) as { parts: { part: string; ready: boolean; why?: string }[] };
        const found = body.parts.find(({ part }) => part === 'dead letters');
        return found?.ready === false && { ...found, status: response.status };
      }, PATIENCE);
      const why = 'the dead-letter topic refuses 1 dead letters, which wait: see the log';
      expect(parts).toMatchObject({ status: 200, why });
      expect(receiver.requests).toHaveLength(2);
      const metrics = await (await fetch(`${service.adminUrl}/metrics`)).text();
      expect(metrics).toContain('account_webhooks_ready{part="dead letters"} 0\n');
      expect(metrics).toMatch(/^account_webhooks_publish_failures_total [1-9]/m);
    } finally {
      await service.stop();
    }
    expect(receiver.requests).toHaveLength(2);
  });

  test('the delivery ends as a dead letter with the event, its size and the limit; the next ones go on', async () => {
    await limited('webhooks.retry.300ms', 2_000);
    const service = await served();
    try {
      await commandLine(settings, ['events', 'publish'], event('large', 'x'.repeat(3_000)) + event('small', 'x'));
      // Two attempts for the small one.
      const letters = await eventually(async () => {
        const { stdout } = await commandLine(settings, ['dead-letters', 'list', '--json']);
        const found = jsonLines(stdout);
        return found.length === 2 && found;
      }, PATIENCE);
      const detail = expect.stringMatching(
        /retry.300ms refuses the record .MESSAGE_TOO_LARGE.: it has about 3\d{3} bytes, and max.message.bytes is 2000$/,
      );
      expect(letters).toMatchObject([
        {
          reason: 'record-refused',
          eventId: 'large',
          attempts: 1,
          detail,
          value: event('large', 'x'.repeat(3_000)).trim(),
        },
        { reason: 'exhausted', eventId: 'small', attempts: 2 },
      ]);
      expect(receiver.requests).toHaveLength(3);
      const metrics = await (await fetch(`${service.adminUrl}/metrics`)).text();
      expect(metrics).toContain('account_webhooks_dead_letters_total{reason="record-refused"} 1\n');
      expect(metrics).toMatch(/^account_webhooks_publish_failures_total [1-9]/m);
    } finally {
      await service.stop();
    }
    const period = ['--from', '2000-01-01', '--to', '2100-01-01'];
    const audit = await commandLine(settings, ['audit', 'completeness', ...period, '--json']);
    expect(JSON.parse(audit.stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({ exhausted: 2, waiting: 0 });
    expect(audit.code).toBe(0);
  });
});
