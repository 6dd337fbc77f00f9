#!/usr/bin/env node
/**
 * A Kafka to try things on, without Docker:
 *   node test/services/kafka/kafka.js start    runs until Ctrl-C; its data is in a temporary folder
 */
import { missingTools } from './kafka-jars.js';
import { startKafka } from './kafka-server.js';

async function start() {
  const missing = missingTools();
  if (missing.length > 0) throw new Error(`Kafka needs ${missing.join(' and ')}`);
  const server = await startKafka({ port: Number(process.env.KAFKA_PORT ?? 9092), tell: console.error });
  console.log(`Kafka runs on ${server.brokers}: BROKER_URL=kafka://${server.brokers} (Ctrl-C stops it)`);
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => server.stop());
  await server.exited;
}

if (process.argv[2] !== 'start') {
  console.error('usage: kafka.js start');
  process.exit(2);
}
try {
  await start();
} catch (error) {
  console.error(`kafka: ${error.message}`);
  process.exitCode = 1;
}
