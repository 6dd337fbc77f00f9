/** A Kafka that a test may kill, stop and secure, besides the one shared by all tests; and Kafka's own tools. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { javaFlags } from '../services/kafka/java.js';
import { missingTools } from '../services/kafka/kafka-jars.js';
import type { startKafka } from '../services/kafka/kafka-server.js';

export type OwnKafka = Awaited<ReturnType<typeof startKafka>>;

/** Runs tests that need a Kafka of their own, or reports loudly that they did not run. */
export function withOwnKafka(define: () => void): void {
  const missing = missingTools();
  if (missing.length === 0) define();
  else describe('KAFKA', () => test.skip(`CAN NOT BE STARTED: ${missing.join(' and ')} missing`, () => undefined));
}

/** A tool's arguments, and its stdin. */
export interface ToolOptions {
  readonly args: readonly string[];
  readonly stdin?: string;
}

/** Runs a tool from Kafka's own jars to its end. */
export async function kafkaTool(mainClass: string, { args, stdin = '' }: ToolOptions): Promise<void> {
  const java = ['-Xmx128m', '-Dorg.slf4j.simpleLogger.defaultLogLevel=error', ...javaFlags(() => undefined)];
  const child = spawn('java', [...java, mainClass, ...args]);
  child.stdin.end(stdin);
  const said = Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${mainClass} ended with ${code}: ${(await said).join('')}`);
  await said;
}

export interface ProducerOptions {
  /** Separates key and value in each line; if absent, lines are values. */
  readonly keySeparator?: string;
  /** none, gzip, snappy, lz4 or zstd. */
  readonly codec?: string;
}

/** Kafka's console producer, which uses the Java client. A line is a record. */
export function consoleProducer(
  brokers: string,
  topic: string,
  lines: readonly string[],
  { keySeparator, codec = 'none' }: ProducerOptions = {},
): Promise<void> {
  const keyed = keySeparator ? ['parse.key=true', `key.separator=${keySeparator}`] : [];
  const properties = keyed.flatMap((property) => ['--reader-property', property]);
  const args = ['--bootstrap-server', brokers, '--topic', topic, '--compression-codec', codec, ...properties];
  return kafkaTool('org.apache.kafka.tools.ConsoleProducer', { args, stdin: `${lines.join('\n')}\n` });
}
