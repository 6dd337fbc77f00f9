/** Kafka takes connections and does not answer: from the first one on, or from some moment on. */
import { KAFKA_LIMITS, type KafkaLimits } from '../../../src/adapters/kafka/admin-session.js';
import { KafkaBroker } from '../../../src/adapters/kafka/broker.js';
import { type Broker, BrokerUnavailable, type NewRecord } from '../../../src/ports/broker.js';
import { topicRecords } from '../../../src/ports/topic-records.js';
import { collect, unique } from '../../contract/contract.js';
import { startKafka } from '../../services/kafka/kafka-server.js';
import { undoneAfterEach } from '../../support/at-end.js';
import { eventually } from '../../support/eventually.js';
import { kafkaSettings } from '../../support/kafka-subjects.js';
import { startMuteKafka } from '../../support/mute-kafka.js';
import { type OwnKafka, withOwnKafka } from '../../support/own-kafka.js';
import { silentLogger } from '../../support/silent-logger.js';
import { inFull } from '../../support/thorough.js';

/** They end the same waits, in the same order, as the defaults do, which TEST_ALL tries. */
const SHORT: KafkaLimits = { connectMs: 1_500, workMs: 3_000, answerMs: 4_000 };
const LIMITS = inFull<[] | [KafkaLimits]>([], [SHORT]);
const { connectMs, answerMs } = inFull(KAFKA_LIMITS, SHORT);

/** What is promised, and what a busy machine may add. */
const CONNECTS_WITHIN_MS = connectMs + 500 + 2_500;
const PUBLISHES_WITHIN_MS = answerMs + 2_500;
const CLOSES_WITHIN_MS = 1_000 + 1_500;
const PATIENCE = { timeout: 30_000 };

jest.setTimeout(300_000);

const atEnd = undoneAfterEach();

function broker(brokers: string, logged: string[] = []): KafkaBroker {
  const logger = { ...silentLogger, debug: (_: unknown, message?: string) => void logged.push(String(message)) };
  const made = new KafkaBroker(kafkaSettings(brokers), logger, ...LIMITS);
  atEnd(() => made.close());
  return made;
}

const record = (value: string): NewRecord => ({ key: null, value: Buffer.from(value), headers: [] });

async function texts(from: Broker, topic: string): Promise<string[]> {
  return (await collect(topicRecords(from, topic))).map(({ value }) => String(value)).sort();
}

async function elapsed(work: Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work;
  return performance.now() - begun;
}

/** Rejected in time, with one line that says what is wrong. */
async function expectNoAnswer(withinMs: number, work: Promise<unknown>): Promise<void> {
  const ms = await elapsed(
    work.then(
      () => expect('an answer').toBe('none'),
      (error: unknown) => {
        expect(error).toBeInstanceOf(BrokerUnavailable);
        expect((error as Error).message).toBe('Kafka at BROKER_URL did not answer in time (TOOK_TOO_LONG)');
      },
    ),
  );
  expect(ms).toBeLessThan(withinMs);
}

describe('silent from the first connection on', () => {
  const CALLS: Readonly<Record<string, (it: Broker) => Promise<unknown>>> = {
    publish: (it) => it.publish('topic', [record('a')]),
    consume: (it) => it.consume({ topics: ['topic'], group: 'group', inFlight: 1, handler: async () => undefined }),
    browse: (it) => collect(topicRecords(it, 'topic')),
    listTopics: (it) => it.listTopics(),
    ensureTopics: (it) => it.ensureTopics(['another']),
  };

  test('every call is rejected in time, and leaves nothing open', async () => {
    const mute = await startMuteKafka();
    atEnd(() => mute.close());
    const it = broker(mute.brokers);
    await Promise.all(Object.values(CALLS).map((call) => expectNoAnswer(CONNECTS_WITHIN_MS, call(it))));
    // publish and consume asked for the same topic, and waited for one answer.
    expect(mute.asked()).toBe(Object.keys(CALLS).length - 1);
    expect(await elapsed(it.close())).toBeLessThan(CLOSES_WITHIN_MS);
  });
});

withOwnKafka(() => {
  let server: OwnKafka;
  beforeAll(async () => {
    server = await startKafka();
  });
  afterEach(() => server.signal('SIGCONT'));
  afterAll(() => server.stop());

  test('what has no answer is rejected, and those behind it; when Kafka goes on nothing stands there twice, and the next are taken', async () => {
    const [topic, other] = [unique('topic'), unique('topic')];
    const logged: string[] = [];
    const connected = broker(server.brokers, logged);
    const notYet = broker(server.brokers);
    await connected.publish(topic, [record('before')]);
    await notYet.ensureTopics([other]);
    server.signal('SIGSTOP');
    const onItsWay = connected.publish(topic, [record('on its way')]);
    const behindIt = connected.publish(topic, [record('behind it')]);
    await Promise.all([
      expectNoAnswer(PUBLISHES_WITHIN_MS, onItsWay),
      expectNoAnswer(PUBLISHES_WITHIN_MS, behindIt),
      expectNoAnswer(CONNECTS_WITHIN_MS, notYet.publish(other, [record('before it was connected')])),
    ]);
    // kafkajs tries again by itself: it must not send again.
    await eventually(() => logged.includes('the send was abandoned'));
    server.signal('SIGCONT');
    // Kafka has to find itself again first; a publish that is rejected meanwhile may be stored all the same.
    const taken = (it: Broker, name: string) =>
      it.publish(name, [record('later')]).then(
        () => true,
        () => false,
      );
    await eventually(() => taken(connected, topic), PATIENCE);
    await eventually(() => taken(notYet, other), PATIENCE);
    expect((await texts(connected, topic)).filter((text) => text !== 'later')).toEqual(['before', 'on its way']);
    expect(new Set(await texts(notYet, other))).toEqual(new Set(['later']));
  });
});
