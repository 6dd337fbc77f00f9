/** Runs the HTTP producers of docs/producers/ as docs/payment-events.md says. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('../../docs/producers/', import.meta.url));
/** The libraries fetched, and the programs built, by scripts/try-producers.sh. */
const LIBRARIES = process.env.PRODUCER_LIBRARIES ?? '';

export interface HttpProducer {
  readonly file: string;
  /** The language of its block on the page. */
  readonly fence: string;
  readonly command: readonly string[];
  /** The suffixes it adds to the given id: one event for each. */
  readonly endings: readonly string[];
  readonly isThere: boolean;
}

const BOTH_MODES = ['-binary', '-structured'];

export const HTTP_PRODUCERS: readonly HttpProducer[] = [
  { ...producer('http-producer.sh', 'sh', ['sh', '-eu']), isThere: answers('curl') },
  producer('http_producer.py', 'python', ['python3']),
  built('http-producer.go'),
  producer('HttpProducer.java', 'java', ['java']),
  producer('http-producer.php', 'php', ['php']),
  { ...producer('cloud-events.mjs', 'js', [process.execPath], 'cloud-events'), endings: BOTH_MODES },
  { ...producer('cloud_events.py', 'python', [`${LIBRARIES}/python/bin/python`], 'python'), endings: BOTH_MODES },
  { ...built('cloud-events.go'), endings: BOTH_MODES },
];

/** @param folder of its libraries; without it, its interpreter must be on this machine */
function producer(file: string, fence: string, command: readonly [string, ...string[]], folder?: string): HttpProducer {
  const isThere = LIBRARIES !== '' && (folder ? existsSync(`${LIBRARIES}/${folder}`) : answers(command[0]));
  // Node.js looks for a library beside the file that imports it.
  const path = fence === 'js' ? `${LIBRARIES}/${folder}/${file}` : FOLDER + file;
  return { file, fence, command: [...command, path], endings: [''], isThere };
}

function built(file: string): HttpProducer {
  const program = `${LIBRARIES}/go/${file.replace('.go', '')}`;
  return { file, fence: 'go', command: [program], endings: [''], isThere: LIBRARIES !== '' && existsSync(program) };
}

function answers(command: string): boolean {
  return spawnSync(command, ['--version']).status === 0;
}

/** Publishes under the id. @throws if the producer failed */
export async function produce(
  { command: [file = '', ...args] }: HttpProducer,
  id: string,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  const child = spawn(file, [...args, id], { env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'pipe'] });
  const [complaints, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  if (code !== 0) throw new Error(`${file} ended with ${code}: ${complaints}`);
}
