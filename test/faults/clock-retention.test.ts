/** A machine whose clock is behind by more than Kafka's retention: what waits for its retry stays in its topic. */
import kafkajs from 'kafkajs';
import { startKafka } from '../services/kafka/kafka-server.js';
import { eventually } from '../support/clocks/eventually.js';
import { FaultScene } from '../support/scenes/fault-scene.js';
import { FaultyLibc, withFaultyLibc } from '../support/scenes/faulty-libc.js';
import { kafkaSettingsOn } from '../support/scenes/kafka-installation.js';
import { paymentEvents } from '../support/scenes/story.js';
import { withOwnKafka } from '../support/servers/own-kafka.js';
import type { Reply } from '../support/servers/receiver.js';

const ACCOUNT = 7;
/** Fewer failures than open a breaker. */
const EVENTS = 8;
const HOUR_MS = 3_600_000;
const RETENTION_MS = 600_000;
const CANARY = 'canary';
const PATIENCE_MS = 40_000;
/** Kafka deletes what is too old at once. */
const DELETING = { 'log.retention.check.interval.ms': '200', 'log.initial.task.delay.ms': '0' };

withOwnKafka(() =>
  withFaultyLibc(() => {
    let scene: FaultScene;
    afterEach(() => scene?.close());

    test('an hour behind, with a retention of ten minutes: retries survive a restart', async () => {
      const kafka = await startKafka({ properties: DELETING });
      const settings = { ...kafkaSettingsOn(kafka.brokers), KAFKA_RETENTION: '10m', RETRY_SCHEDULE: '4s,200ms' };
      let status = 503;
      scene = await FaultScene.open(
        { name: 'Kafka', open: async () => ({ settings, close: () => kafka.stop() }) },
        { respond: (): Reply => ({ status }) },
      );
      const libc = new FaultyLibc(String(scene.settings.DATA_DIR));
      scene.onClose(() => libc.close());
      libc.shiftClock(-HOUR_MS);
      const service = await scene.serve(libc.settings);
      const urls = scene.urls('/one');
      await scene.account(service, ACCOUNT, urls);
      await scene.publish(paymentEvents(ACCOUNT, EVENTS, 'evt-'), urls);
      await eventually(() => scene.receiver.requests.length === EVENTS);
      expect(await service.stop('SIGTERM')).toBe(0);
      await hasDeletedTheOld(kafka.brokers);
      status = 200;
      await scene.serve(libc.settings);
      await scene.nothingLost(PATIENCE_MS);
    });
  }),
);

/** Fulfilled once a record as old as the machine's clock says is gone. */
async function hasDeletedTheOld(brokers: string): Promise<void> {
  const client = new kafkajs.Kafka({ brokers: [brokers], logLevel: kafkajs.logLevel.NOTHING });
  const [admin, producer] = [client.admin(), client.producer()];
  await Promise.all([admin.connect(), producer.connect()]);
  try {
    const configEntries = [{ name: 'retention.ms', value: String(RETENTION_MS) }];
    await admin.createTopics({ topics: [{ topic: CANARY, numPartitions: 1, configEntries }], waitForLeaders: true });
    await producer.send({ topic: CANARY, messages: [{ value: 'old', timestamp: String(Date.now() - HOUR_MS) }] });
    await eventually(async () => (await admin.fetchTopicOffsets(CANARY))[0]?.low === '1', { timeout: PATIENCE_MS });
  } finally {
    await Promise.all([admin.disconnect(), producer.disconnect()]);
  }
}
