/** A Kafka that stores less metadata with an offset than usual: what fits of the work done beyond it is not repeated. */
import { KafkaBroker } from '../../../src/adapters/kafka/broker.js';
import type { Broker, NewRecord } from '../../../src/ports/broker.js';
import { unique } from '../../contract/contract.js';
import { startKafka } from '../../services/kafka/kafka-server.js';
import { eventually } from '../../support/clocks/eventually.js';
import { undoneAfterEach } from '../../support/scenes/at-end.js';
import { kafkaSettings } from '../../support/scenes/kafka-subjects.js';
import { recordingLogger } from '../../support/scenes/recording-logger.js';
import { withOwnKafka } from '../../support/servers/own-kafka.js';

/** `aw1:` and six runs of a record each. */
const MAX_METADATA = 32;
const RECORDS = 60;
const PATIENCE = { timeout: 30_000 };

const atEnd = undoneAfterEach();

const record = (n: number): NewRecord => ({ key: null, value: Buffer.from(String(n)), headers: [] });
const fails = (n: number) => n % 2 === 0;

/** Handles every record but the even ones, until `isEnough`. @returns the numbers of all that it handled */
async function handled(broker: Broker, topic: string, isEnough: (done: readonly number[]) => boolean) {
  const numbers: number[] = [];
  const handle = async ({ value }: { readonly value: Buffer | null }) => {
    numbers.push(Number(value));
    if (fails(Number(value))) throw new Error('rejected');
  };
  const consumer = await broker.consume({
    topics: [topic],
    group: `${topic}-group`,
    inFlight: RECORDS,
    accept: () => ({ handle }),
  });
  await eventually(() => isEnough(numbers), PATIENCE);
  await consumer.close();
  return numbers;
}

withOwnKafka(() => {
  test('the offset and the first records done beyond it are committed, and the log says once what is missing', async () => {
    const kafka = await startKafka({ properties: { 'offset.metadata.max.bytes': String(MAX_METADATA) } });
    atEnd(() => kafka.stop());
    const logger = recordingLogger();
    const open = () => {
      const broker = new KafkaBroker({ ...kafkaSettings(kafka.brokers), partitions: 1 }, logger);
      atEnd(() => broker.close());
      return broker;
    };
    const topic = unique('metadata');
    const all = Array.from({ length: RECORDS }, (_, n) => n);
    const first = open();
    await first.ensureTopics([topic]);
    await first.publish(topic, all.map(record));
    const odd = all.filter((n) => !fails(n));
    await handled(first, topic, (done) => odd.every((n) => done.includes(n)));
    await first.close();
    const warnings = logger.warnings.filter(([, text]) => String(text).includes('offset.metadata.max.bytes'));
    expect(warnings).toHaveLength(1);
    const repeated = await handled(open(), topic, (done) => done.includes(RECORDS - 1));
    expect(repeated).toContain(0);
    expect(repeated).not.toContain(1);
    expect(repeated).not.toContain(3);
  });
});
