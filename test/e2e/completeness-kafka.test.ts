/** What somebody, or retention, does to Kafka's topics and offsets shows in the audit, also once the service went on. */
import { randomUUID } from 'node:crypto';
import kafkajs, { type Admin, type Kafka } from 'kafkajs';
import { commandLine } from '../support/clients/in-process-cli.js';
import { serveHere } from '../support/clients/in-process-service.js';
import { jsonLines, type Settings } from '../support/clients/service.js';
import { eventually } from '../support/clocks/eventually.js';
import { kafkaInstallation } from '../support/scenes/kafka-installation.js';
import { withKafka } from '../support/scenes/kafka-subjects.js';
import { addWebhook, paymentEvents, register, tokenFor } from '../support/scenes/story.js';
import { type Receiver, startReceiver } from '../support/servers/receiver.js';

const ACCOUNT = 42;
const YEAR = 365 * 24 * 3_600_000;
const PATIENCE = { timeout: 60_000 };

withKafka((brokers) => {
  let kafka: Kafka;
  let admin: Admin;
  let receiver: Receiver;
  let settings: Settings;
  let remove: () => Promise<void>;
  let topic: string;

  beforeEach(async () => {
    kafka = new kafkajs.Kafka({ brokers: brokers.split(','), logLevel: kafkajs.logLevel.NOTHING });
    admin = kafka.admin();
    await admin.connect();
    receiver = await startReceiver({ respond: () => ({ status: 200 }) });
    ({ settings, remove } = await kafkaInstallation(brokers, [receiver], { KAFKA_PARTITIONS: '1' }));
    topic = String(settings.PAYMENT_TOPICS);
    await served(async (url) => {
      const token = await tokenFor(url, await register(settings, ACCOUNT));
      await addWebhook(url, token, { url: `${receiver.url}/ok`, eventType: 'cash_in' });
    });
  });

  afterEach(async () => {
    await receiver.close();
    await remove();
    await admin.disconnect();
  });

  /** A service runs meanwhile, until nothing waits any more. */
  async function served(work: (url: string) => Promise<void> = async () => undefined): Promise<void> {
    const service = await serveHere(settings);
    try {
      await work(service.url);
      await eventually(async () => (await audit()).counts.waiting === 0, PATIENCE);
    } finally {
      await service.stop();
    }
  }

  async function audit(...more: string[]) {
    const args = ['audit', 'completeness', '--from', '2000-01-01', '--to', '2100-01-01', '--json', ...more];
    // Again while it has no report: Kafka may take longer to respond on a busy machine than the command waits.
    const { code, lines } = await eventually(async () => {
      const { code, stdout } = await commandLine(settings, args);
      const lines = jsonLines(stdout);
      return lines.length > 0 && { code, lines };
    }, PATIENCE);
    return {
      code,
      counts: lines.at(-1) ?? {},
      lost: lines.filter(({ kind }) => kind === 'lost'),
      held: lines.filter(({ kind }) => kind === 'held'),
    };
  }

  const publish = (count: number, name: string) =>
    commandLine(settings, ['events', 'publish'], paymentEvents(ACCOUNT, count, name));

  test('payments behind an open transaction wait, and the period is not complete', async () => {
    await publish(1, 'one-');
    await served();
    const producer = kafka.producer({ transactionalId: randomUUID(), idempotent: true, maxInFlightRequests: 1 });
    await producer.connect();
    const open = await producer.transaction();
    await open.send({ topic, messages: [{ value: paymentEvents(ACCOUNT, 1, 'open-').trim() }] });
    await publish(19, 'behind-');
    const held = [{ kind: 'held', topic, partition: 0, offset: 1, records: 20 }];
    expect(await audit()).toMatchObject({ code: 1, counts: { records: 21, delivered: 1, waiting: 20 }, held });
    const past = ['audit', 'completeness', '--from', '2000-01-01', '--to', '2001-01-01'];
    expect((await commandLine(settings, past)).code).toBe(0);
    await open.abort();
    await producer.disconnect();
    await served();
    expect(await audit()).toMatchObject({ code: 0, counts: { records: 20, delivered: 20, waiting: 0 }, held: [] });
  });

  test('undelivered payments that were removed are lost, where the oldest one left has an earlier time', async () => {
    await publish(40, 'one-');
    const producer = kafka.producer();
    await producer.connect();
    const messages = paymentEvents(ACCOUNT, 15, 'two-').trim().split('\n');
    const timestamp = String(Date.now() - YEAR);
    await producer.send({ topic, messages: messages.map((value) => ({ key: String(ACCOUNT), value, timestamp })) });
    await producer.disconnect();
    await admin.fetchTopicOffsets(topic);
    await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '40' }] });
    const lost = [{ topic, why: 'offsets 0 to 39 of partition 0 were removed before they were done' }];
    expect(await audit()).toMatchObject({ code: 1, counts: { records: 15, waiting: 15 }, lost });
    await served();
    expect(await audit()).toMatchObject({ code: 1, counts: { records: 15, delivered: 15 }, lost });
    expect(await audit('--allow-lost')).toMatchObject({ code: 0, lost });
  });
});
