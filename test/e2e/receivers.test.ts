/** docs/receivers.md: its receivers take what this service really sends, and nothing else. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { Webhook } from 'standardwebhooks';
import { freePort } from '../services/free-port.js';
import { run, type Settings, serve } from '../support/clients/service.js';
import { eventually } from '../support/clocks/eventually.js';
import { fileOf } from '../support/oracles/file-of.js';
import { addWebhook, installation, register, tokenFor } from '../support/scenes/story.js';
import { temporaryDirectory } from '../support/scenes/temporary-directory.js';
import { type ReceivedRequest, startReceiver } from '../support/servers/receiver.js';

const FOLDER = fileURLToPath(new URL('../../docs/receivers/', import.meta.url));
/** The libraries fetched and built by scripts/try-documents.sh. */
const LIBRARIES = process.env.DOCUMENT_LIBRARIES ?? '';

interface DocumentedReceiver {
  readonly language: string;
  readonly file: string;
  readonly command: readonly string[];
  readonly isThere: boolean;
}

const RECEIVERS: readonly DocumentedReceiver[] = [
  receiver('Node.js', 'receiver.mjs', [process.execPath, `${FOLDER}receiver.mjs`], true),
  receiver('Python', 'receiver.py', [`${LIBRARIES}/python/bin/python`, `${FOLDER}receiver.py`]),
  receiver('PHP', 'receiver.php', ['sh', '-c', `exec php -S 127.0.0.1:$PORT ${FOLDER}receiver.php`], hasPhp()),
  receiver('Go', 'receiver.go', [`${LIBRARIES}/go/receiver`]),
  receiver('Java', 'Receiver.java', ['java', '-cp', `${LIBRARIES}/java/*`, `${FOLDER}Receiver.java`]),
];

function receiver(
  language: string,
  file: string,
  command: readonly string[],
  isThere = LIBRARIES !== '' && existsSync(`${LIBRARIES}/${language.toLowerCase()}`),
): DocumentedReceiver {
  return { language, file, command, isThere };
}

function hasPhp(): boolean {
  return spawnSync('php', ['--version']).status === 0;
}

interface RunningReceiver {
  /** Sends it a request of the service. @returns the status */
  send(received: Pick<ReceivedRequest, 'headers' | 'body'>): Promise<number>;
  /** The deliveries it accepted: webhook-id, a space, the body. */
  readonly taken: () => readonly string[];
  stop(): Promise<void>;
}

async function startDocumented({ command }: DocumentedReceiver, secret: string): Promise<RunningReceiver> {
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

const GUIDE = fileOf('docs/receivers.md');
/** Spaces, digits and characters that would be lost by whoever parses it and writes it again. */
const ODD_JSON = '"amount" : 10.00,  "nsu": 12345678901234567890, "payer": "Zoë \\u00e9 日本 \u{1F4B8}"';

/** Deliveries of this service, recorded. */
let plain: ReceivedRequest;
let odd: ReceivedRequest;
let twiceSigned: ReceivedRequest;
let oldSecret: string;
let newSecret: string;

beforeAll(record);

async function record(): Promise<void> {
  const receiver = await startReceiver();
  const { settings, remove } = await installation([receiver]);
  const service = await serve(settings);
  const delivered = async (id: string, data: string) => {
    await publish(settings, `{"id":"${id}","type":"cash_in","accountId":42,"data":{${data}}}`);
    return eventually(() => receiver.requests.find(({ body }) => body.includes(id)));
  };
  const account = await register(settings, 42);
  const token = await tokenFor(service.url, account);
  await addWebhook(service.url, token, { url: `${receiver.url}/in`, eventType: 'cash_in' });
  oldSecret = account.signingSecret;
  plain = await delivered('plain', '"amount":"10.00"');
  odd = await delivered('odd', ODD_JSON);
  const { stdout } = await run(settings, ['accounts', 'rotate-secret', '42', '--json']);
  newSecret = (JSON.parse(stdout) as { signingSecret: string }).signingSecret;
  twiceSigned = await delivered('rotated', '"amount":"10.00"');
  await service.stop('SIGTERM');
  await receiver.close();
  await remove();
}

async function publish(settings: Settings, event: string): Promise<void> {
  expect((await run(settings, ['events', 'publish'], event)).code).toBe(0);
}

const withHeaders = ({ headers, body }: ReceivedRequest, changed: Record<string, string | undefined>) => {
  const all = Object.entries({ ...headers, ...changed }).filter(([, value]) => value !== undefined);
  return { headers: Object.fromEntries(all) as ReceivedRequest['headers'], body };
};

/** What may come from somebody else, by what is wrong with it. */
function forgeries(): Record<string, Pick<ReceivedRequest, 'headers' | 'body'>> {
  const { 'webhook-id': id = '', 'webhook-timestamp': seconds } = plain.headers as Record<string, string>;
  const signed = (at: number, secret = oldSecret) => ({
    'webhook-timestamp': String(at),
    'webhook-signature': new Webhook(secret).sign(id, new Date(at * 1000), plain.body),
  });
  const body = Buffer.from(plain.body.toString().replace('10.00', '90.00'));
  return {
    'another body': { ...plain, body },
    'another id': withHeaders(plain, { 'webhook-id': `${id}x` }),
    'a timestamp of an hour ago': withHeaders(plain, signed(Number(seconds) - 3600)),
    'a timestamp of the future': withHeaders(plain, signed(Number(seconds) + 3600)),
    'the signature of another secret': withHeaders(plain, signed(Number(seconds), `whsec_${'A'.repeat(44)}`)),
    'no signature': withHeaders(plain, { 'webhook-signature': undefined }),
    'a signature that is none': withHeaders(plain, { 'webhook-signature': 'v1' }),
  };
}

test('the forgeries but for what is wrong with them would be taken', () => {
  const { headers, body } = plain;
  expect(new Webhook(oldSecret).verify(body, headers as Record<string, string>)).toMatchObject({ id: 'plain' });
});

describe.each(RECEIVERS)('$language', (documented: DocumentedReceiver) => {
  if (documented.isThere) tried(documented);
  else test.skip('SKIPPED: ITS LIBRARY IS NOT THERE; make receivers fetches it', () => undefined);
});

const skipped = RECEIVERS.filter(({ isThere }) => !isThere).map(({ language }) => language.toUpperCase());
if (skipped.length > 0) {
  // Names of skipped tests are not shown where many files run.
  process.stderr.write(
    `\nTHE RECEIVERS IN ${skipped.join(', ')} ARE SKIPPED: make receivers FETCHES THEIR LIBRARIES\n`,
  );
}

function tried(documented: DocumentedReceiver): void {
  let receiver: RunningReceiver;
  beforeAll(async () => {
    receiver = await startDocumented(documented, oldSecret);
  });
  afterAll(() => receiver?.stop());

  test('takes every delivery once', async () => {
    for (const delivery of [plain, odd, twiceSigned, plain]) expect(await receiver.send(delivery)).toBe(204);
    const expected = [plain, odd, twiceSigned].map(({ headers, body }) => `${headers['webhook-id']} ${body}`);
    await eventually(() => receiver.taken().length >= expected.length);
    expect(receiver.taken()).toEqual(expected);
  });

  test('refuses what is forged', async () => {
    const statuses: Record<string, number> = {};
    const made = forgeries();
    for (const [name, forged] of Object.entries(made)) statuses[name] = await receiver.send(forged);
    expect(statuses).toEqual(Object.fromEntries(Object.keys(made).map((name) => [name, 401])));
    expect(receiver.taken()).toHaveLength(3);
  });

  test('with the new secret takes what is signed by both', async () => {
    const renewed = await startDocumented(documented, newSecret);
    const statuses = [await renewed.send(twiceSigned), await renewed.send(plain)];
    await renewed.stop();
    expect(statuses).toEqual([204, 401]);
  });
}

test('the request that the guide shows is signed as it says', () => {
  const [, head = '', body = ''] = /\nPOST [^\n]+\n(.*?)\n\n(\{.*?\})\n```/s.exec(GUIDE) ?? [];
  const headers = Object.fromEntries(head.split('\n').map((line) => line.split(': ') as [string, string]));
  const secret = /`(whsec_[^`.]+)`/.exec(GUIDE)?.[1] ?? '';
  const at = new Date(Number(headers['webhook-timestamp']) * 1000);
  expect(headers['webhook-signature']).toBe(new Webhook(secret).sign(headers['webhook-id'] ?? '', at, body));
});
