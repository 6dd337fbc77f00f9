import { KafkaBroker } from '../../../src/adapters/kafka/broker.js';
import { undoneAfterEach } from '../../support/scenes/at-end.js';
import { kafkaSettings } from '../../support/scenes/kafka-subjects.js';
import { silentLogger } from '../../support/scenes/silent-logger.js';
import { startMuteKafka } from '../../support/servers/mute-kafka.js';

const atEnd = undoneAfterEach();
/** kafkajs connects again for longer, and only logs why. */
const LIMITS = { connectMs: 1_000, workMs: 1_000, answerMs: 2_000 };

test('an error says why each connection failed, where kafkajs was given up while it connected again', async () => {
  const http = await startMuteKafka('HTTP/1.1 400 Bad Request\r\n\r\n');
  const broker = new KafkaBroker(kafkaSettings(http.brokers), silentLogger, LIMITS);
  atEnd(() => http.close());
  atEnd(() => broker.close());
  await expect(broker.ensureTopics(['topic'])).rejects.toThrow('(INVALID_ANSWER_SIZE)');
});
