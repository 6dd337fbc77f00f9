/** docs/payment-events.md: what its producers publish, with each codec, is delivered. make producers has their libraries. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { startKafka } from '../services/kafka/kafka-server.js';
import { eventually } from '../support/eventually.js';
import { kafkaInstallation } from '../support/kafka-installation.js';
import type { OwnKafka } from '../support/own-kafka.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { type Service, serve } from '../support/service.js';
import { addWebhook, paymentEvents, register, tokenFor } from '../support/story.js';

const FOLDER = fileURLToPath(new URL('../../docs/producers/', import.meta.url));
/** The libraries fetched by scripts/try-documents.sh; without them nothing runs. */
const LIBRARIES = process.env.DOCUMENT_LIBRARIES ?? '';

/** The codecs that the service reads: each producer runs with each. */
const CODECS = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const;

type Codec = (typeof CODECS)[number];

interface DocumentedProducer {
  readonly client: string;
  readonly file: string;
  readonly command: readonly string[];
  /** The suffixes it adds to the given id: one event for each. */
  readonly endings: readonly string[];
  readonly isThere: boolean;
}

const PRODUCERS: readonly DocumentedProducer[] = [
  producer('Java', 'Producer.java', ['java', '-cp', `${LIBRARIES}/java/*`], 'java'),
  producer('kcat', 'producer.sh', ['sh', '-eu'], 'kcat'),
  producer('confluent-kafka', 'producer.py', [`${LIBRARIES}/python/bin/python`], 'python'),
  { ...producer('kcat', 'cloud-events.sh', ['sh', '-eu'], 'kcat'), endings: ['-structured', '-binary'] },
];

function producer(client: string, file: string, runner: readonly string[], folder: string): DocumentedProducer {
  const isThere = LIBRARIES !== '' && existsSync(`${LIBRARIES}/${folder}`);
  return { client, file, command: [...runner, FOLDER + file], endings: [''], isThere };
}

interface Target {
  readonly brokers: string;
  readonly topic: string;
  readonly codec: Codec;
}

/** Publishes under the id. @throws if the producer failed */
async function publishWith(
  { command: [file = '', ...args] }: DocumentedProducer,
  id: string,
  { brokers, topic, codec }: Target,
): Promise<void> {
  const env = { BROKERS: brokers, TOPIC: topic, CODEC: codec };
  await ended(spawn(file, [...args, id], { env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'pipe'] }));
}

/** Publishes with kcat, in as few batches as kcat makes. */
async function publishLines(lines: string, { brokers, topic, codec }: Target): Promise<void> {
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
/** One for each codec: its batches show which was used. */
const topicOf = (codec: string) => `payments-${codec}`;

const there = PRODUCERS.filter(({ isThere }) => isThere);
if (there.length > 0) describe('on a Kafka of their own', tried);
for (const { file } of PRODUCERS.filter(({ isThere }) => !isThere)) {
  test.skip(`${file} IS SKIPPED: make producers FETCHES WHAT IT NEEDS`, () => undefined);
}

function tried(): void {
  let kafka: OwnKafka;
  let receiver: Receiver;
  let service: Service;
  let remove: () => Promise<void>;

  beforeAll(async () => {
    kafka = await startKafka();
    receiver = await startReceiver();
    const installed = await kafkaInstallation(kafka.brokers, [receiver], {
      PAYMENT_TOPICS: CODECS.map(topicOf).join(),
    });
    remove = installed.remove;
    service = await serve(installed.settings);
    const token = await tokenFor(service.url, await register(installed.settings, 42));
    await addWebhook(service.url, token, { url: `${receiver.url}/in`, eventType: 'cash_in' });
  });

  afterAll(async () => {
    await service?.stop('SIGTERM');
    await receiver?.close();
    await remove?.();
    await kafka?.stop();
  });

  const cases = there.flatMap((producer) => CODECS.map((codec) => ({ ...producer, codec })));
  test.each(cases)('$file, $codec: each event is delivered', async ({ codec, ...producer }) => {
    const id = `${producer.file}-${codec}`;
    await publishWith(producer, id, { brokers: kafka.brokers, topic: topicOf(codec), codec });
    const ids = producer.endings.map((ending) => id + ending);
    await eventually(() => ids.every((one) => arrived().includes(one)), { message: `${ids} are not all delivered` });
  });

  const bulk = there.some(({ client }) => client === 'kcat') ? CODECS : [];
  if (bulk.length > 0)
    test.each(bulk)('kcat, %s: 200 events at once are delivered', async (codec) => {
      const events = paymentEvents(42, 200, `bulk-${codec}-`);
      await publishLines(events, { brokers: kafka.brokers, topic: topicOf(codec), codec });
      const ids = events
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { id: string }).id);
      await eventually(() => ids.every((one) => arrived().includes(one)), { message: 'they are not all delivered' });
    });

  test.each(CODECS)('%s was used, and one partition, whatever the client', (codec) => {
    const batches = batchesOf(kafka.folder, topicOf(codec));
    // librdkafka leaves unpacked what packing does not make smaller: a single event by snappy or lz4.
    const used = new Set(batches.map((batch) => batch.codec).filter((name) => name === codec || name !== 'none'));
    expect(used).toEqual(new Set([codec]));
    expect(new Set(batches.map(({ partition }) => partition)).size).toBe(1);
  });

  test('a CloudEvent in binary mode has its attributes in the headers of the request', () => {
    const binary = receiver.requests.find(({ headers }) => headers['ce-id'] !== undefined);
    if (there.some(isCloudEvents))
      expect(binary?.headers).toMatchObject({ 'ce-specversion': '1.0', 'ce-accountid': '42' });
    else expect(binary).toBeUndefined();
  });

  const arrived = () =>
    receiver.requests.map(
      ({ headers, body }) => headers['ce-id'] ?? (JSON.parse(body.toString()) as { id: string }).id,
    );
}

const isCloudEvents = ({ file }: DocumentedProducer) => file === 'cloud-events.sh';

interface Batch {
  readonly partition: number;
  readonly codec: string;
}

/** The base offset, and the length of the rest. */
const HEAD = 12;
const ATTRIBUTES = 21;
const CODEC_BITS = 7;

/** @param folder the broker's data folder, as in startKafka */
function batchesOf(folder: string, topic: string): Batch[] {
  const logs = join(folder, 'logs');
  const partitions = readdirSync(logs).filter((name) => name.replace(/-\d+$/, '') === topic);
  return partitions.flatMap((name) => {
    const files = readdirSync(join(logs, name)).filter((file) => file.endsWith('.log'));
    const partition = Number(name.slice(topic.length + 1));
    const codecs = files.flatMap((file) => codecsIn(readFileSync(join(logs, name, file))));
    return codecs.map((codec) => ({ partition, codec }));
  });
}

function codecsIn(bytes: Buffer): string[] {
  const codecs: string[] = [];
  for (let at = 0; at + HEAD < bytes.length; at += HEAD + bytes.readInt32BE(at + 8)) {
    codecs.push(CODECS[bytes.readInt16BE(at + ATTRIBUTES) & CODEC_BITS] ?? 'unknown');
  }
  return codecs;
}
