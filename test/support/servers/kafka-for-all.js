/**
 * Before all tests: a Kafka of their own, unless KAFKA_BROKERS names one. Where neither can be had, what needs it is
 * skipped, and that is said loudly; with REQUIRE_KAFKA set it fails.
 */
import { kafkaClassPath, missingTools } from '../../services/kafka/kafka-jars.js';
import { prepareKafka, startKafka } from '../../services/kafka/kafka-server.js';

export default async function setUp() {
  if (process.env.KAFKA_BROKERS) return;
  const missing = missingTools();
  if (missing.length > 0) {
    if (process.env.REQUIRE_KAFKA) throw new Error(`the tests on Kafka need ${missing.join(' and ')}`);
    console.error(
      `\nTHE TESTS ON KAFKA ARE SKIPPED: KAFKA_BROKERS IS NOT SET, AND ${missing.join(' AND ').toUpperCase()} MISSING\n`,
    );
    return;
  }
  try {
    kafkaClassPath((line) => console.error(line));
  } catch (error) {
    if (process.env.REQUIRE_KAFKA) throw error;
    process.env.NO_KAFKA = "Kafka's jars, which Maven can not fetch,";
    console.error(`\nTHE TESTS ON KAFKA ARE SKIPPED: MAVEN CAN NOT FETCH ITS JARS\n${error.message}\n`);
    return;
  }
  await prepareKafka((line) => console.error(line));
  const kafka = await startKafka({ tell: (line) => console.error(line) });
  process.env.KAFKA_BROKERS = kafka.brokers;
  globalThis.kafkaForAll = kafka;
}
