/** docs/payment-events.md: what its producers publish, with each codec, is delivered. make producers has their libraries. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Settings } from '../support/clients/service.js';
import { eventually } from '../support/clocks/eventually.js';
import { type Backbone, describeBackbones, ON_SERVERS } from '../support/scenes/backbones.js';
import { Served } from '../support/scenes/served.js';

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

/** Publishes under the id. @throws if the producer failed */
async function publishWith(
  { command: [file = '', ...args], codec }: DocumentedProducer & { readonly codec: Codec },
  id: string,
  { BROKER_URL = '', PAYMENT_TOPICS = '' }: Settings,
): Promise<void> {
  const env = { BROKERS: BROKER_URL.replace('kafka://', ''), TOPIC: PAYMENT_TOPICS, CODEC: codec };
  await ended(spawn(file, [...args, id], { env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'pipe'] }));
}

async function ended(child: ChildProcess): Promise<void> {
  const [complaints, [code]] = await Promise.all([child.stderr ? text(child.stderr) : '', once(child, 'exit')]);
  if (code !== 0) throw new Error(`${child.spawnfile} ended with ${code}: ${complaints}`);
}

const there = PRODUCERS.filter(({ isThere }) => isThere);
if (there.length > 0) describeBackbones(tried, ON_SERVERS);
for (const { file } of PRODUCERS.filter(({ isThere }) => !isThere)) {
  test.skip(`${file} IS SKIPPED: make producers FETCHES WHAT IT NEEDS`, () => undefined);
}

function tried(backbone: Backbone): void {
  const served = Served.around({ backbone, isProcess: true });
  beforeAll(() => served.addWebhook('/in'));

  const cases = there.flatMap((producer) => CODECS.map((codec) => ({ ...producer, codec })));
  test.each(cases)('$file, $codec: each event is delivered', async (producer) => {
    const id = `${producer.file}-${producer.codec}`;
    await publishWith(producer, id, served.settings);
    const ids = producer.endings.map((ending) => id + ending);
    await eventually(() => ids.every((one) => arrived().includes(one)), { message: `${ids} are not all delivered` });
  });

  test('a CloudEvent in binary mode has its attributes in the headers of the request', () => {
    const binary = served.receiver.requests.find(({ headers }) => headers['ce-id'] !== undefined);
    if (there.some(isCloudEvents))
      expect(binary?.headers).toMatchObject({ 'ce-specversion': '1.0', 'ce-accountid': '42' });
    else expect(binary).toBeUndefined();
  });

  const arrived = () =>
    served.receiver.requests.map(
      ({ headers, body }) => headers['ce-id'] ?? (JSON.parse(body.toString()) as { id: string }).id,
    );
}

const isCloudEvents = ({ file }: DocumentedProducer) => file === 'cloud-events.sh';
