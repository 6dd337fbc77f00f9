import kafkajs from 'kafkajs';
import { KafkaBroker, type KafkaSettings } from '../../../src/adapters/kafka/broker.js';
import { BrokerUnavailable, type NewRecord, RecordRefused, TimestampRefused } from '../../../src/ports/broker.js';
import { topicRecords } from '../../../src/ports/topic-records.js';
import { collect, unique } from '../../contract/contract.js';
import { eventually } from '../../support/clocks/eventually.js';
import { kafkaSettings, withKafka } from '../../support/scenes/kafka-subjects.js';
import { recordingLogger } from '../../support/scenes/recording-logger.js';

const MIB = 1024 * 1024;
const HOUR_MS = 3_600_000;

withKafka((brokers) => {
  let opened: KafkaBroker[] = [];
  let logger: ReturnType<typeof recordingLogger>;

  beforeEach(() => {
    logger = recordingLogger();
  });

  afterEach(async () => {
    await Promise.all(opened.map((broker) => broker.close()));
    opened = [];
  });

  function broker(changes: Partial<KafkaSettings> = {}): KafkaBroker {
    const made = new KafkaBroker({ ...kafkaSettings(brokers), ...changes }, logger);
    opened.push(made);
    return made;
  }

  const record = (value: string | Buffer, key = 'k'): NewRecord => ({
    key: Buffer.from(key),
    value: Buffer.from(value),
    headers: [],
  });

  async function administer<T>(work: (admin: kafkajs.Admin) => Promise<T>): Promise<T> {
    const admin = new kafkajs.Kafka({ brokers: brokers.split(','), logLevel: kafkajs.logLevel.NOTHING }).admin();
    await admin.connect();
    try {
      return await work(admin);
    } finally {
      await admin.disconnect();
    }
  }

  async function createTopic(topic: string, config: Readonly<Record<string, string>>): Promise<void> {
    const configEntries = Object.entries(config).map(([name, value]) => ({ name, value }));
    // What a publisher waits for, kafkajs fails on.
    const topics = [{ topic, numPartitions: 3, configEntries }];
    await administer((admin) => admin.createTopics({ topics, waitForLeaders: false }));
  }

  /** What was set for a topic itself. */
  async function configOf(name: string): Promise<Record<string, string>> {
    const resources = [{ type: kafkajs.ConfigResourceTypes.TOPIC, name }];
    const described = await administer((admin) => admin.describeConfigs({ resources, includeSynonyms: false }));
    const entries = described.resources.flatMap(({ configEntries }) => configEntries);
    const own = entries.filter(({ configSource }) => configSource === kafkajs.ConfigSource.TOPIC_CONFIG);
    return Object.fromEntries(own.map(({ configName, configValue }) => [configName, configValue]));
  }

  it('refuses a record that the topic does not take, and stores those that were published beside it', async () => {
    const topic = unique('topic');
    const it = broker();
    await it.publish(topic, [record('first')]);
    const beside = ['a', 'b', 'c'].map((value) => it.publish(topic, [record(value)]));
    await expect(it.publish(topic, [record(Buffer.alloc(2 * MIB))])).rejects.toThrow(RecordRefused);
    await Promise.all([...beside, it.publish(topic, [record('last')])]);
    const stored = (await collect(topicRecords(it, topic))).map(({ value }) => String(value));
    expect(stored).toEqual(['first', 'a', 'b', 'c', 'last']);
  });

  it('tells of a consumer that Kafka will never have: its closed is rejected', async () => {
    const options = {
      topics: [unique('topic')],
      group: unique('group'),
      inFlight: 1,
      accept: () => ({ handle: async () => undefined }),
    };
    // Below group.min.session.timeout.ms.
    const consumer = await broker({ sessionTimeoutMs: 50 }).consume(options);
    await expect(consumer.closed).rejects.toThrow(BrokerUnavailable);
  });

  it('makes own topics that keep what they are given, and leaves those that exist as they are', async () => {
    const [fresh, foreign, compacted] = [unique('own'), unique('payments'), unique('payments')];
    await createTopic(compacted, { 'cleanup.policy': 'compact,delete', 'retention.ms': '3600000' });
    const it = broker({ isOwn: (topic) => topic.startsWith('own-'), retentionMs: 3_600_000 });
    await eventually(async () => (await it.listTopics()).includes(compacted));
    await it.ensureTopics([fresh, foreign, compacted]);
    const kept = { 'cleanup.policy': 'delete', 'retention.ms': '3600000' };
    const own = { 'message.timestamp.type': 'LogAppendTime', 'max.message.bytes': '1048576' };
    expect(await configOf(fresh)).toEqual({ ...kept, ...own });
    expect(await configOf(foreign)).toEqual(kept);
    expect(await configOf(compacted)).toMatchObject({ 'cleanup.policy': 'compact,delete' });
    expect(logger.warnings).toEqual([[{ topic: compacted }, expect.stringContaining('compacted')]]);
  });

  it('reports the size of a refused record', async () => {
    const topic = unique('topic');
    await createTopic(topic, { 'max.message.bytes': '1000' });
    const refusal = broker().publish(topic, [record(Buffer.alloc(2_000))]);
    await expect(refusal).rejects.toThrow(/^topic-.* refuses the record .MESSAGE_TOO_LARGE.: it has about 2065 bytes$/);
  });

  it('blames the clock of this machine, not the topic, if Kafka rejects the time of a record', async () => {
    const topic = unique('topic');
    await createTopic(topic, { 'message.timestamp.after.max.ms': String(HOUR_MS) });
    const its = broker();
    await its.publish(topic, [record('in time')]);
    const { now } = Date;
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() + 2 * HOUR_MS);
    const rejected = its.publish(topic, [record('too early')]).finally(() => clock.mockRestore());
    const error = await rejected.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(TimestampRefused);
    expect((error as Error).message).toMatch(
      /^the clock of this machine [(]\d{4}-\d\d-\d\dT.*Z[)] is too far from those of the brokers: topic-.* set it by NTP$/,
    );
  });

  it('makes topics as the settings say, and warns of one that keeps its records too short a time', async () => {
    const topic = unique('topic');
    await broker({ partitions: 2, retentionMs: 3_600_000 }).ensureTopics([topic]);
    expect(logger.warnings).toEqual([]);
    await broker({ retentionMs: 7_200_000 }).ensureTopics([topic]);
    expect(JSON.stringify(logger.warnings)).toMatch(/raise retention.ms/);
    await broker({ retentionMs: 3_600_000 }).ensureTopics([topic]);
    expect(logger.warnings).toHaveLength(1);
  });
});
