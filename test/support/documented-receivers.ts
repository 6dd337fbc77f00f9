/** Runs the receivers of docs/receivers/ as the guide says, and sends them requests. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { freePort } from '../services/free-port.js';
import { eventually } from './eventually.js';
import type { ReceivedRequest } from './receiver.js';
import { temporaryDirectory } from './temporary-directory.js';

const FOLDER = fileURLToPath(new URL('../../docs/receivers/', import.meta.url));
/** The libraries fetched and built by scripts/try-receivers.sh. */
const LIBRARIES = process.env.RECEIVER_LIBRARIES ?? '';

export interface DocumentedReceiver {
  readonly language: string;
  readonly file: string;
  /** The language of its block in the guide. */
  readonly fence: string;
  readonly command: readonly string[];
  readonly isThere: boolean;
}

export const RECEIVERS: readonly DocumentedReceiver[] = [
  receiver('Node.js', 'receiver.mjs', 'js', [process.execPath, `${FOLDER}receiver.mjs`], true),
  receiver('Python', 'receiver.py', 'python', [`${LIBRARIES}/python/bin/python`, `${FOLDER}receiver.py`]),
  receiver('PHP', 'receiver.php', 'php', ['sh', '-c', `exec php -S 127.0.0.1:$PORT ${FOLDER}receiver.php`], hasPhp()),
  receiver('Go', 'receiver.go', 'go', [`${LIBRARIES}/go/receiver`]),
  receiver('Java', 'Receiver.java', 'java', ['java', '-cp', `${LIBRARIES}/java/*`, `${FOLDER}Receiver.java`]),
];

function receiver(
  language: string,
  file: string,
  fence: string,
  command: readonly string[],
  isThere = LIBRARIES !== '' && existsSync(`${LIBRARIES}/${language.toLowerCase()}`),
): DocumentedReceiver {
  return { language, file, fence, command, isThere };
}

function hasPhp(): boolean {
  return spawnSync('php', ['--version']).status === 0;
}

export interface RunningReceiver {
  /** Sends it a request of the service. @returns the status */
  send(received: Pick<ReceivedRequest, 'headers' | 'body'>): Promise<number>;
  /** The deliveries it accepted: webhook-id, a space, the body. */
  readonly taken: () => readonly string[];
  stop(): Promise<void>;
}

export async function startDocumented({ command }: DocumentedReceiver, secret: string): Promise<RunningReceiver> {
  const port = await freePort();
  const [file = '', ...args] = command;
  const folder = temporaryDirectory();
  const env = {
    TMPDIR: folder.path,
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    WEBHOOK_SECRET: secret,
    PORT: String(port),
  };
  const child = spawn(file, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  let complaints = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints += text;
  });
  const exited = once(child, 'exit');
  const send: RunningReceiver['send'] = ({ headers, body }) => post(port, headers, body);
  const listens = async () => {
    if (child.exitCode !== null) throw new Error(`the receiver ended: ${complaints}`);
    return (await post(port, { 'content-length': '2' }, Buffer.from('{}')).catch(() => 0)) === 401;
  };
  await eventually(listens, { timeout: 30_000, message: 'the receiver does not listen' });
  return {
    send,
    taken: () => output.split('\n').filter(Boolean),
    async stop() {
      child.kill('SIGKILL');
      await exited;
      folder.remove();
    },
  };
}

function post(port: number, headers: ReceivedRequest['headers'], body: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, method: 'POST', path: '/in', agent: false, headers };
    const sent = request(options, (response) => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0));
    });
    sent.on('error', reject).end(body);
  });
}
