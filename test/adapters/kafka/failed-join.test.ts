/** A join that fails halfway: the group goes on with this member, which must not go on as the member that it was. */
import { KafkaBroker } from '../../../src/adapters/kafka/broker.js';
import type { ReceivedRecord } from '../../../src/ports/broker.js';
import { unique } from '../../contract/contract.js';
import { eventually } from '../../support/clocks/eventually.js';
import { kafkaSettings, withKafka } from '../../support/scenes/kafka-subjects.js';
import { type RecordingLogger, recordingLogger } from '../../support/scenes/recording-logger.js';
import { type Fault, type KafkaRelay, startKafkaRelay } from '../../support/servers/kafka-relay.js';

/** Kafka waits for the former member to come back, or to expire: six seconds. */
const PATIENCE = { timeout: 30_000 };

withKafka((brokers) => {
  let relay: KafkaRelay;
  let broker: KafkaBroker;
  let logger: RecordingLogger;
  beforeEach(async () => {
    relay = await startKafkaRelay(brokers);
    logger = recordingLogger();
    broker = new KafkaBroker(kafkaSettings(relay.brokers), logger);
  });
  afterEach(async () => {
    await broker.close();
    await relay.close();
    // Then another client took over, which is not what is tried here.
    expect(logger.warnings.flat()).not.toContain('the consumer is stuck and is replaced');
  });

  const REBALANCES: Fault = { on: 'Heartbeat', error: 'REBALANCE_IN_PROGRESS' };
  const EXPIRED: Fault = { on: 'Heartbeat', error: 'UNKNOWN_MEMBER_ID' };

  /** @returns publishes a value, and is fulfilled once it is handed out */
  async function consuming(): Promise<(value: string) => Promise<void>> {
    const topic = unique('topic');
    const received: string[] = [];
    const handle = async ({ value }: ReceivedRecord) => void received.push(String(value));
    await broker.consume({ topics: [topic], group: unique('group'), inFlight: 10, accept: () => ({ handle }) });
    return async (value) => {
      await broker.publish(topic, [{ key: null, value: Buffer.from(value), headers: [] }]);
      await eventually(() => received.includes(value), PATIENCE);
    };
  }

  const failures: [string, Fault[]][] = [
    ['the assignment is lost', [REBALANCES, { on: 'SyncGroup', answer: 'lost' }]],
    ['an expired member can not join', [EXPIRED, { on: 'JoinGroup', request: 'lost' }]],
    ['the request to join is lost', [REBALANCES, { on: 'JoinGroup', request: 'lost' }]],
    ['the answer to it is lost', [REBALANCES, { on: 'JoinGroup', answer: 'lost' }]],
    ['the request for the assignment is lost', [REBALANCES, { on: 'SyncGroup', request: 'lost' }]],
    ['an expired member does not hear that it joined', [EXPIRED, { on: 'JoinGroup', answer: 'lost' }]],
  ];
  test.each(failures)('%s: what is published afterwards is handed out', async (_, faults) => {
    const isHandedOut = await consuming();
    await isHandedOut('before');
    relay.plan(...faults);
    await eventually(() => relay.planned() === 0, PATIENCE);
    await isHandedOut('after');
  });

  test('the first join is lost: it is tried again', async () => {
    relay.plan({ on: 'SyncGroup', answer: 'lost' });
    const isHandedOut = await consuming();
    await isHandedOut('a record');
    expect(relay.planned()).toBe(0);
  });
});
