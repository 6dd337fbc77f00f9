#!/usr/bin/env node
/**
 * A Kafka to try things on, without Docker:
 *   node test/services/kafka/kafka.js start    runs until it is stopped; its data is in a temporary folder
 *   node test/services/kafka/kafka.js stop
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { missingTools } from './kafka-jars.js';
import { startKafka } from './kafka-server.js';

const PID_FILE = fileURLToPath(new URL('.running', import.meta.url));

async function start() {
  const missing = missingTools();
  if (missing.length > 0) throw new Error(`Kafka needs ${missing.join(' and ')}`);
  const server = await startKafka({ port: Number(process.env.KAFKA_PORT ?? 9092), tell: console.error });
  writeFileSync(PID_FILE, String(process.pid));
  console.log(`Kafka runs on ${server.brokers}: BROKER_URL=kafka://${server.brokers} (Ctrl-C stops it)`);
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => server.stop());
  await server.exited;
  rmSync(PID_FILE, { force: true });
}

function stop() {
  if (!existsSync(PID_FILE)) throw new Error('it does not run');
  process.kill(Number(readFileSync(PID_FILE, 'utf8')), 'SIGTERM');
}

const command = { start, stop }[process.argv[2]];
if (!command) {
  console.error('usage: kafka.js start | stop');
  process.exit(2);
}
try {
  await command();
} catch (error) {
  console.error(`kafka: ${error.message}`);
  process.exitCode = 1;
}
