/** demo --keep: a service with a day of history, and a link to its console, until Ctrl-C. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { commandLine } from '../support/clients/in-process-cli.js';
import { Browser } from '../support/clients/portal-session.js';
import { MAIN } from '../support/clients/service.js';
import { eventually } from '../support/clocks/eventually.js';
import { temporaryDirectory } from '../support/scenes/temporary-directory.js';

const LINK = /^ {2}(http:\S+)\/console#code=\S+$/gm;
const PATIENCE = { timeout: 60_000 };
const HOUR_MS = 3_600_000;

const folder = temporaryDirectory();
const startedAt = Date.now();
let child: ChildProcess;
let closed: Promise<unknown[]>;
let printed = '';
let session: Browser;

beforeAll(() => {
  child = spawn(process.execPath, [MAIN, 'demo', '--keep'], { env: { ...process.env, TMPDIR: folder.path } });
  closed = once(child, 'close');
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
  }
});
afterAll(async () => {
  child.kill('SIGKILL');
  await closed;
  folder.remove();
});

/** The n-th that was printed, counted from 0. */
async function link(n: number): Promise<{ service: string; url: string }> {
  const found = () => {
    if (child.exitCode !== null) throw new Error(`the demo ended: ${printed}`);
    return [...printed.matchAll(LINK)][n];
  };
  const [text, service = ''] = await eventually(found, { ...PATIENCE, message: 'no link was printed' });
  return { service, url: text.trim() };
}

async function answer<T>(path: string): Promise<T> {
  return (await session.send('GET', path)).body as T;
}

const iso = (ms: number) => new Date(ms).toISOString();

interface Delivery {
  readonly publishedAt: string;
  readonly outcome: string;
}

test('the printed link opens a session with all rights', async () => {
  const { service, url } = await link(0);
  session = await Browser.in(service, { url });
  const rights = ['read', 'payloads', 'resend', 'configure', 'secrets'];
  expect(await answer('/console/session')).toMatchObject({ user: 'demo', can: rights });
});

test('the last 24 hours have deliveries throughout', async () => {
  const hour = Math.floor(startedAt / HOUR_MS) * HOUR_MS;
  const query = `step=1h&from=${iso(hour - 24 * HOUR_MS)}&to=${iso(hour + HOUR_MS)}`;
  const full = async () => {
    const { buckets } = await answer<{ buckets: { delivered: number; failedAttempts: number }[] }>(
      `/api/stats?${query}`,
    );
    const busy = buckets.filter(({ delivered }) => delivered > 0);
    return busy.length > 20 && buckets.some(({ failedAttempts }) => failedAttempts > 0);
  };
  await eventually(full, { ...PATIENCE, message: 'the day has hours without a delivery' });
});

test('a URL is off with held payments, and others fail for different reasons', async () => {
  interface Health {
    readonly state: string;
    readonly offBy: string | null;
    readonly held: number;
    readonly waiting: number;
    readonly lastFailure: { readonly status: number | null; readonly error: string | null } | null;
  }
  const shown = async () => {
    const { webhooks } = await answer<{ webhooks: Health[] }>('/api/webhooks/health');
    const failing = webhooks.filter(({ state }) => state === 'failing');
    const causes = failing.map(({ lastFailure }) => lastFailure?.status ?? lastFailure?.error);
    const off = webhooks.find(({ offBy }) => offBy === 'service');
    return (
      [404, 'timeout'].every((cause) => causes.includes(cause)) &&
      failing.some(({ waiting }) => waiting > 0) &&
      (off?.held ?? 0) > 0
    );
  };
  await eventually(shown, { ...PATIENCE, message: 'the webhooks fare in another way' });
});

test('a new payment arrives while it runs', async () => {
  const arrived = async () => {
    const { deliveries } = await answer<{ deliveries: Delivery[] }>('/api/deliveries?outcome=delivered&limit=10');
    return deliveries.some(({ publishedAt }) => Date.parse(publishedAt) > startedAt);
  };
  await eventually(arrived, { ...PATIENCE, message: 'no new payment was delivered' });
});

test('the day is complete: each payment has an answer, waits, or is kept', async () => {
  const settings = { DATA_DIR: join(folder.path, readdirSync(folder.path)[0] ?? '', 'data') };
  const period = ['--from', iso(startedAt - 23 * HOUR_MS), '--to', iso(startedAt)];
  const { code, stdout } = await commandLine(settings, ['audit', 'completeness', ...period, '--json']);
  expect({ code, stdout }).toMatchObject({ code: 0 });
});

test('Ctrl-C ends it with code 0, and leaves no files', async () => {
  expect(readdirSync(folder.path)).toEqual([expect.stringMatching(/^account-webhooks-demo-/)]);
  child.kill('SIGINT');
  const [code] = await closed;
  expect(code).toBe(0);
  expect(readdirSync(folder.path)).toEqual([]);
});
