/** docs/payment-events.md: what its HTTP producers publish is delivered. make producers has their libraries. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { eventually } from '../support/clocks/eventually.js';
import { Served } from '../support/scenes/served.js';
import { type Account, tokenFor } from '../support/scenes/story.js';

const FOLDER = fileURLToPath(new URL('../../docs/producers/', import.meta.url));
/** The libraries fetched, and the programs built, by scripts/try-documents.sh. */
const LIBRARIES = process.env.DOCUMENT_LIBRARIES ?? '';

interface HttpProducer {
  readonly file: string;
  readonly command: readonly string[];
  /** The suffixes it adds to the given id: one event for each. */
  readonly endings: readonly string[];
  readonly isThere: boolean;
}

const BOTH_MODES = ['-binary', '-structured'];

const HTTP_PRODUCERS: readonly HttpProducer[] = [
  { ...producer('http-producer.sh', ['sh', '-eu']), isThere: answers('curl') },
  producer('http_producer.py', ['python3']),
  built('http-producer.go'),
  producer('HttpProducer.java', ['java']),
  producer('http-producer.php', ['php']),
  { ...producer('cloud-events.mjs', [process.execPath], 'cloud-events'), endings: BOTH_MODES },
  { ...producer('cloud_events.py', [`${LIBRARIES}/python/bin/python`], 'python'), endings: BOTH_MODES },
  { ...built('cloud-events.go'), endings: BOTH_MODES },
];

/** @param folder of its libraries; without it, its interpreter must be on this machine */
function producer(file: string, command: readonly [string, ...string[]], folder?: string): HttpProducer {
  const isThere = LIBRARIES !== '' && (folder ? existsSync(`${LIBRARIES}/${folder}`) : answers(command[0]));
  // Node.js looks for a library beside the file that imports it.
  const path = file.endsWith('.mjs') ? `${LIBRARIES}/${folder}/${file}` : FOLDER + file;
  return { file, command: [...command, path], endings: [''], isThere };
}

function built(file: string): HttpProducer {
  const program = `${LIBRARIES}/go/${file.replace('.go', '')}`;
  return { file, command: [program], endings: [''], isThere: LIBRARIES !== '' && existsSync(program) };
}

function answers(command: string): boolean {
  return spawnSync(command, ['--version']).status === 0;
}

/** Publishes under the id. @throws if the producer failed */
async function produce(
  { command: [file = '', ...args] }: HttpProducer,
  id: string,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  const child = spawn(file, [...args, id], { env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'pipe'] });
  const [complaints, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  if (code !== 0) throw new Error(`${file} ended with ${code}: ${complaints}`);
}

const served = Served.around();
let env: Record<string, string>;

beforeAll(async () => {
  await served.addWebhook('/in');
  const [publisher] = await served.lines<Account>('publishers', 'register', 'ledger');
  if (!publisher) throw new Error('no publisher was registered');
  const { clientId: CLIENT_ID, clientSecret: CLIENT_SECRET } = publisher;
  const { url } = served.service;
  env = { SERVICE: url, CLIENT_ID, CLIENT_SECRET, TOKEN: await tokenFor(url, publisher) };
});

const arrived = () =>
  served.receiver.requests.map(
    ({ headers, body }) => headers['ce-id'] ?? (JSON.parse(body.toString()) as { id: string }).id,
  );

describe.each(HTTP_PRODUCERS)('$file', ({ isThere, ...producer }) => {
  if (isThere) {
    test('each of its events is delivered', async () => {
      await produce({ isThere, ...producer }, producer.file, env);
      const ids = producer.endings.map((ending) => producer.file + ending);
      await eventually(() => ids.every((id) => arrived().includes(id)), { message: `${ids} are not all delivered` });
    });

    test('it fails where its events are refused', async () => {
      const refused = { ...env, CLIENT_SECRET: 'x', TOKEN: 'x' };
      await expect(produce({ isThere, ...producer }, 'refused', refused)).rejects.toThrow(/ended with/);
    });
  } else test.skip('IS SKIPPED: make producers HAS WHAT IT NEEDS', () => undefined);
});
