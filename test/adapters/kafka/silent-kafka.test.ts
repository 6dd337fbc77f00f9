/** Kafka takes connections and does not answer: from the first one on, or from some moment on. */
import type { Kafka } from 'kafkajs';
import { KAFKA_LIMITS } from '../../../src/adapters/kafka/admin-session.js';
import { KafkaBroker } from '../../../src/adapters/kafka/broker.js';
import { TopicAdmin } from '../../../src/adapters/kafka/topic-admin.js';
import { type Broker, BrokerUnavailable, type NewRecord } from '../../../src/ports/broker.js';
import { topicRecords } from '../../../src/ports/topic-records.js';
import { collect, unique } from '../../contract/contract.js';
import { patience } from '../../runner/patience.js';
import { startKafka } from '../../services/kafka/kafka-server.js';
import { eventually } from '../../support/clocks/eventually.js';
import { undoneAfterEach } from '../../support/scenes/at-end.js';
import { kafkaSettings } from '../../support/scenes/kafka-subjects.js';
import { silentLogger } from '../../support/scenes/silent-logger.js';
import { startMuteKafka } from '../../support/servers/mute-kafka.js';
import { type OwnKafka, withOwnKafka } from '../../support/servers/own-kafka.js';

/** Of what is promised, what this machine may add. */
const added = (ms: number) => ms * patience();
const CONNECTS_WITHIN_MS = KAFKA_LIMITS.connectMs + 500 + added(2_500);
const PUBLISHES_WITHIN_MS = KAFKA_LIMITS.answerMs + added(2_500);
const CLOSES_WITHIN_MS = 1_000 + added(1_500);
const PATIENCE = { timeout: 30_000 };

const atEnd = undoneAfterEach();

function broker(brokers: string, logged: string[] = []): KafkaBroker {
  const logger = { ...silentLogger, debug: (_: unknown, message?: string) => void logged.push(String(message)) };
  const made = new KafkaBroker(kafkaSettings(brokers), logger);
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
    consume: (it) =>
      it.consume({ topics: ['topic'], group: 'group', inFlight: 1, accept: () => ({ handle: async () => undefined }) }),
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

  test('a connection that was given up is let go of when kafkajs is done with it, and not before', async () => {
    const mute = await startMuteKafka();
    atEnd(() => mute.close());
    let disconnected = 0;
    let connects: () => void = () => undefined;
    const client = {
      connect: () =>
        new Promise<void>((resolve) => {
          connects = resolve;
        }),
      disconnect: async () => {
        disconnected += 1;
      },
    };
    const kafka = { admin: () => client } as unknown as Kafka;
    const admin = new TopicAdmin(kafka, kafkaSettings(mute.brokers), silentLogger);
    await expectNoAnswer(CONNECTS_WITHIN_MS, admin.list());
    expect(disconnected).toBe(0);
    connects();
    await eventually(() => disconnected === 1);
  });

  test('one that has just come back, and tells of no topics yet, is asked again', async () => {
    const mute = await startMuteKafka();
    atEnd(() => mute.close());
    // What kafkajs makes of it: it takes apart a null.
    const answers = [() => Promise.reject(new TypeError("Cannot destructure property 'topicMetadata'"))];
    const client = {
      connect: async () => undefined,
      disconnect: async () => undefined,
      listTopics: () => answers.shift()?.() ?? Promise.resolve(['topic']),
    };
    const kafka = { admin: () => client } as unknown as Kafka;
    expect(await new TopicAdmin(kafka, kafkaSettings(mute.brokers), silentLogger).list()).toEqual(['topic']);
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

  test('close does not wait for an answer that does not come', async () => {
    const topic = unique('topic');
    const it = broker(server.brokers);
    await it.publish(topic, [record('before')]);
    server.signal('SIGSTOP');
    const publishing = it.publish(topic, [record('met by close')]);
    // Until it is on its way.
    await new Promise((resolve) => setImmediate(resolve));
    expect(await elapsed(it.close())).toBeLessThan(CLOSES_WITHIN_MS);
    server.signal('SIGCONT');
    await publishing;
    expect(await texts(broker(server.brokers), topic)).toEqual(['before', 'met by close']);
  });
});
