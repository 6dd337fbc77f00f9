/** An answer of Kafka that ends in the middle, or is none: it costs its connection, never the process. */
import type { Admin } from 'kafkajs';
import { KAFKA_LIMITS } from '../../../src/adapters/kafka/admin-session.js';
import { connection } from '../../../src/adapters/kafka/broker.js';
import { undoneAfterEach } from '../../support/scenes/at-end.js';
import { kafkaSettings } from '../../support/scenes/kafka-subjects.js';
import { silentLogger } from '../../support/scenes/silent-logger.js';
import { type Send, startEmptyKafka } from '../../support/servers/empty-kafka.js';

/** What waits for an answer that never comes in full fails by this; the test then says so. */
const LIMITS = { ...KAFKA_LIMITS, answerMs: 2_000 };

const atEnd = undoneAfterEach();

/** Connected to a Kafka whose first answer about topics is sent by `first`, and all others as they are. */
async function admin(first: Send): Promise<Admin> {
  const sends = [first];
  const whole: Send = (socket, answer) => socket.write(answer);
  const kafka = await startEmptyKafka((socket, answer) => (sends.shift() ?? whole)(socket, answer));
  atEnd(() => kafka.close());
  const client = connection(kafkaSettings(kafka.brokers), silentLogger, LIMITS).admin();
  atEnd(() => client.disconnect());
  await client.connect();
  return client;
}

describe('cut off in the middle of an answer', () => {
  test.each([1, 4, 8, 20])('after %i bytes: the next connection is read from its first byte on', async (bytes) => {
    const client = await admin((socket, answer) => socket.end(answer.subarray(0, bytes)));
    await expect(client.listTopics()).rejects.toMatchObject({ name: 'KafkaJSConnectionClosedError' });
    expect(await client.listTopics()).toEqual([]);
  });

  test('by a reset: the next connection is read from its first byte on', async () => {
    const client = await admin((socket, answer) => socket.write(answer.subarray(0, 8), () => socket.resetAndDestroy()));
    await expect(client.listTopics()).rejects.toMatchObject({
      name: expect.stringMatching(/^KafkaJSConnection(Closed)?Error$/),
    });
    expect(await client.listTopics()).toEqual([]);
  });
});

describe('an answer of a size that none has fails its connection at once', () => {
  const sized = (size: number): Buffer => {
    const bytes = Buffer.alloc(64);
    bytes.writeInt32BE(size);
    return bytes;
  };
  test.each<[string, Buffer, string?]>([
    ['negative', sized(-2)],
    ['null', sized(-1)],
    ['zero', sized(0)],
    ['too small for what it answers', sized(3)],
    ['2 GiB', sized(2 ** 31 - 1)],
    ['HTTP', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')],
    ['TLS', Buffer.from([0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x46]), 'TLS_ANSWER'],
  ])('%s', async (_, bytes, code = 'INVALID_ANSWER_SIZE') => {
    const client = await admin((socket) => socket.write(bytes));
    await expect(client.listTopics()).rejects.toMatchObject({
      name: 'KafkaJSConnectionError',
      code,
    });
    expect(await client.listTopics()).toEqual([]);
  });
});
