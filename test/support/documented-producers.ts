/** Runs the producers of docs/producers/ as docs/payment-events.md says. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('../../docs/producers/', import.meta.url));
/** The libraries fetched by scripts/try-producers.sh; without them nothing runs. */
const LIBRARIES = process.env.PRODUCER_LIBRARIES ?? '';

/** The codecs that the service reads: each producer runs with each. */
export const CODECS = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const;

type Codec = (typeof CODECS)[number];

export interface DocumentedProducer {
  readonly client: string;
  readonly file: string;
  /** The language of its block on the page. */
  readonly fence: string;
  readonly command: readonly string[];
  /** The suffixes it adds to the given id: one event for each. */
  readonly endings: readonly string[];
  readonly isThere: boolean;
}

export const PRODUCERS: readonly DocumentedProducer[] = [
  producer('Java', 'Producer.java', 'java', ['java', '-cp', `${LIBRARIES}/java/*`], 'java'),
  producer('kcat', 'producer.sh', 'sh', ['sh', '-eu'], 'kcat'),
  producer('confluent-kafka', 'producer.py', 'python', [`${LIBRARIES}/python/bin/python`], 'python'),
  { ...producer('kcat', 'cloud-events.sh', 'sh', ['sh', '-eu'], 'kcat'), endings: ['-structured', '-binary'] },
];

function producer(
  client: string,
  file: string,
  fence: string,
  runner: readonly string[],
  folder: string,
): DocumentedProducer {
  const isThere = LIBRARIES !== '' && existsSync(`${LIBRARIES}/${folder}`);
  return { client, file, fence, command: [...runner, FOLDER + file], endings: [''], isThere };
}

export interface Target {
  readonly brokers: string;
  readonly topic: string;
  readonly codec: Codec;
}

/** Publishes under the id. @throws if the producer failed */
export async function publishWith(
  { command: [file = '', ...args] }: DocumentedProducer,
  id: string,
  { brokers, topic, codec }: Target,
): Promise<void> {
  const env = { BROKERS: brokers, TOPIC: topic, CODEC: codec };
  await ended(spawn(file, [...args, id], { env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'pipe'] }));
}

/** Publishes with kcat, in as few batches as kcat makes. */
export async function publishLines(lines: string, { brokers, topic, codec }: Target): Promise<void> {
  const settings = [`compression.codec=${codec}`, 'topic.partitioner=murmur2_random', 'linger.ms=100'];
  const args = ['-P', '-b', brokers, '-t', topic, '-k', '42', ...settings.flatMap((setting) => ['-X', setting])];
  const child = spawn('kcat', args, { stdio: ['pipe', 'ignore', 'pipe'] });
  child.stdin.end(lines);
  await ended(child);
}

async function ended(child: ChildProcess): Promise<void> {
  const [complaints, [code]] = await Promise.all([child.stderr ? text(child.stderr) : '', once(child, 'exit')]);
  if (code !== 0) throw new Error(`${child.spawnfile} ended with ${code}: ${complaints}`);
}
