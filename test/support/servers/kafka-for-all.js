/**
 * Before all tests: a Kafka of their own, unless KAFKA_BROKERS names one. Where neither can be had, what needs it is
 * skipped, and that is said loudly; with REQUIRE_KAFKA set it fails.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { kafkaClassPath, missingTools } from '../../services/kafka/kafka-jars.js';
import { prepareKafka, startKafka } from '../../services/kafka/kafka-server.js';
import makeCertificates from './certificates-for-all.js';
import { securedListeners } from './secured-listeners.js';

export default async function setUp({ testPathPatterns }) {
  if (process.env.KAFKA_BROKERS || !needsKafka(testPathPatterns)) return;
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
  // Jest runs the set-up of a project before that of all.
  await makeCertificates();
  const { relay, ...secured } = await securedListeners();
  const options = { ...secured, tell: (line) => console.error(line) };
  await prepareKafka(options);
  const kafka = await startKafka(options);
  const caFile = join(kafka.folder, 'ca.pem');
  writeFileSync(caFile, secured.properties['ssl.truststore.certificates']);
  process.env.KAFKA_BROKERS = kafka.brokers;
  process.env.KAFKA_LISTENERS = JSON.stringify({ ...kafka.at, relay, caFile });
  globalThis.kafkaForAll = kafka;
}

const TESTS = join(import.meta.dirname, '../..');

/** Whether a selected test file, or a scene that it names, uses Kafka: a run of a few other files does not wait for one. */
function needsKafka({ patterns }) {
  if (process.env.REQUIRE_KAFKA || patterns.length === 0) return true;
  const selected = readdirSync(TESTS, { recursive: true })
    .map((file) => join(TESTS, file))
    .filter((file) => file.endsWith('.test.ts') && patterns.some((pattern) => new RegExp(pattern).test(file)));
  return selected.some((file) => /kafka|backbone/i.test(file + readFileSync(file, 'utf8')));
}
