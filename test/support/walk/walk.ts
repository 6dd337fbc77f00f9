/**
 * Which files of src/ run because of one call: an embedded service is warmed up, then each way is gone several times, and
 * what ran every time counts, so that a timer that fires meanwhile does not.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openBackbone } from '../../../src/composition/backbone.js';
import { createLogger } from '../../../src/observability/logger.js';
import { readConfig } from '../../../src/settings/read-config.js';
import { EVENT_TYPES } from '../../../src/webhooks/limits.js';
import { run, type Settings } from '../clients/service.js';
import { eventually } from '../eventually.js';
import { testAuthority } from '../servers/certificates.js';
import { type Receiver, startReceiver } from '../servers/receiver.js';
import { temporaryDirectory } from '../temporary-directory.js';

/** In the order of their first use. */
export interface Walk {
  readonly post: readonly string[];
  readonly payment: readonly string[];
}

const ACCOUNT = 42;
const PAID = 'cash_in';
const OTHER_TYPES = EVENT_TYPES.filter((type) => type !== PAID);
const WARM_UP = 3;
/** In a row that take no file away. */
const TIMES = 8;
/** Looks in a row that found nothing that had not run before: the way is at its end. */
const QUIET_LOOKS = 20;
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

export async function walk(): Promise<Walk> {
  const folder = temporaryDirectory();
  const receiver = await startReceiver();
  const settings = await settingsOf(folder.path, receiver);
  const service = fork(join(ROOT, 'src/main.ts'), ['serve'], {
    execArgv: ['--import', new URL('./marking.js', import.meta.url).href],
    env: { PATH: process.env.PATH, ...settings },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  try {
    const { apiPort } = await readyOf(service);
    const ran = () => ranOf(service);
    const token = await tokenOf(settings, `http://127.0.0.1:${apiPort}`);
    const calls = callsOf({ settings, receiver, url: `http://127.0.0.1:${apiPort}`, token });
    await calls.post(PAID);
    const post = await everyTime(() => calls.post(), ran);
    const payment = await everyTime(calls.payment, ran);
    await calls.close();
    return { post, payment };
  } finally {
    const exited = once(service, 'exit');
    service.kill('SIGTERM');
    await exited;
    await receiver.close();
    folder.remove();
  }
}

async function everyTime(call: () => Promise<void>, ran: () => Promise<string[]>): Promise<readonly string[]> {
  for (let time = 0; time < WARM_UP; time += 1) await call();
  let always: readonly string[] | undefined;
  for (let same = 0; same < TIMES; ) {
    await untilQuiet(ran);
    await call();
    const files = await untilQuiet(ran);
    const left: readonly string[] = always?.filter((file) => files.includes(file)) ?? files;
    // On a busy machine timers of a second fall into several calls.
    same = left.length === always?.length ? same + 1 : 0;
    always = left;
  }
  return always ?? [];
}

/** @returns what ran until then */
async function untilQuiet(ran: () => Promise<string[]>): Promise<readonly string[]> {
  const seen = new Set<string>();
  let quiet = 0;
  await eventually(async () => {
    const before = seen.size;
    for (const file of await ran()) seen.add(file);
    quiet = seen.size === before ? quiet + 1 : 0;
    return quiet >= QUIET_LOOKS;
  });
  return [...seen];
}

async function ranOf(service: ChildProcess): Promise<string[]> {
  const answer = once(service, 'message');
  service.send('which files ran?');
  return (await answer)[0] as string[];
}

interface Called {
  readonly settings: Settings;
  readonly receiver: Receiver;
  readonly url: string;
  readonly token: string;
}

function callsOf({ settings, receiver, url, token }: Called) {
  let count = 0;
  const config = readConfig(settings);
  const backbone = openBackbone(config, createLogger('error'));
  // An account has up to three URLs for each type: on a busy machine, which takes more calls, they are registered again.
  const post = async (eventType: string | undefined = OTHER_TYPES[count % OTHER_TYPES.length]) => {
    const hook = count % (3 * OTHER_TYPES.length);
    count += 1;
    const answer = await fetch(`${url}/api/webhooks`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ eventType, url: `${receiver.url}/hook-${hook}` }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`POST answered ${answer.status}: ${text}`);
  };
  const payment = async () => {
    count += 1;
    const taken = receiver.taken.length;
    const event = { id: `pay-${count}`, type: PAID, accountId: ACCOUNT, timestamp: new Date().toISOString() };
    const value = Buffer.from(JSON.stringify({ ...event, data: { amount: '10.00' } }));
    const { broker } = await backbone;
    await broker.publish(config.paymentTopics[0], [{ key: Buffer.from(String(ACCOUNT)), value, headers: [] }]);
    await eventually(() => receiver.taken.length > taken);
  };
  return { post, payment, close: async () => (await backbone).close() };
}

async function settingsOf(folder: string, receiver: Receiver): Promise<Settings> {
  const caFile = join(folder, 'ca.pem');
  writeFileSync(caFile, (await testAuthority()).cert);
  return {
    DATA_DIR: join(folder, 'data'),
    PORT: '0',
    ADMIN_PORT: '0',
    ALLOW_PRIVATE_ENDPOINTS: 'true',
    ALLOWED_PORTS: `443,${receiver.port}`,
    DELIVERY_CA_FILE: caFile,
  };
}

async function readyOf(service: ChildProcess): Promise<{ apiPort: number }> {
  let log = '';
  service.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    log += chunk;
  });
  const line = () => {
    if (service.exitCode !== null) throw new Error(`serve ended: ${log}`);
    return log.split('\n').find((entry) => entry.includes('"msg":"ready"'));
  };
  return JSON.parse(await eventually(line, { timeout: 60_000, message: 'the service is not ready' }));
}

/** Of a new account that gets payments at one URL. */
async function tokenOf(settings: Settings, url: string): Promise<string> {
  const { stdout, stderr } = await run(settings, ['accounts', 'register', String(ACCOUNT), '--json']);
  if (!stdout) throw new Error(stderr);
  const { clientId, clientSecret } = JSON.parse(stdout);
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
  });
  const answer = await fetch(`${url}/oauth/token`, { method: 'POST', body });
  return ((await answer.json()) as { access_token: string }).access_token;
}
