/** "An account helps itself" in docs/tour.md, block by block as it stands there, on ports of its own. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from '../support/clocks/eventually.js';
import { fileOf } from '../support/oracles/file-of.js';
import { Served } from '../support/scenes/served.js';
import { temporaryDirectory } from '../support/scenes/temporary-directory.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const ANSWER = 'the ledger is closed';
const PATIENCE = { timeout: 60_000 };

type Json = Readonly<Record<string, unknown>>;

let folder: ReturnType<typeof temporaryDirectory>;
let shell: Shell;
/** What `tour/status` says. */
let status = 200;
const served = Served.around({
  respond: () => ({ status, ...(status >= 300 && { body: ANSWER }) }),
  settings: { RETRY_SCHEDULE: '2s,5s,10s' },
});

beforeAll(async () => {
  folder = temporaryDirectory();
  symlinkSync(join(ROOT, 'dist'), join(folder.path, 'dist'));
  await served.addWebhook('/payments');
  shell = new Shell(folder.path, { ...served.settings, token: served.token });
});

afterAll(async () => {
  await shell.close();
  folder.remove();
});

/** One bash for all blocks: the later ones use functions and variables of the earlier ones. */
class Shell {
  readonly #child: ChildProcessWithoutNullStreams;
  #shown = '';

  constructor(cwd: string, env: Readonly<Record<string, string>>) {
    this.#child = spawn('bash', ['-eu', '-o', 'pipefail'], { cwd, env: { PATH: process.env.PATH ?? '', ...env } });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#shown += text;
      });
    }
  }

  /** What the block printed. */
  async run(block: string): Promise<string> {
    const from = this.#shown.length;
    this.#child.stdin.write(`${block}\necho "the block's end"\n`);
    const shown = () => this.#shown.slice(from);
    const isOver = () => shown().endsWith("the block's end\n") || this.#child.exitCode !== null;
    await eventually(isOver, { ...PATIENCE, message: `no end of ${block}` });
    expect([this.#child.exitCode, block]).toEqual([null, block]);
    return shown();
  }

  async close(): Promise<void> {
    const closed = once(this.#child, 'close');
    this.#child.stdin.end();
    await closed;
  }
}

function blocks(): string[] {
  const chapter = /^## An account helps itself\n(.*?)^## /ms.exec(fileOf('docs/tour.md'))?.[1] ?? '';
  const found = [...chapter.matchAll(/```sh\n(.*?)```/gs)].map(([, block = '']) => block);
  return found.map((block) => block.replaceAll('http://127.0.0.1:8080', served.service.url));
}

/** The receiver of the test reads no file. */
function withStatus(block: string): string {
  const given = /^echo (\d+) > tour\/status$/m.exec(block)?.[1];
  if (given !== undefined) status = Number(given);
  return block.replace(/^echo \d+ > tour\/status$/m, 'true');
}

const get = (path: string) => served.call<Json>('GET', `/api/${path}`);

const jsonIn = (shown: string) =>
  shown.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Json] : []));

test('a client reads why a payment failed and recovers everything, held payments included, without an operator', async () => {
  const all = blocks();
  expect(all).toHaveLength(8);
  const [setUp = '', failing = '', reading = '', gone = '', held = '', asking = '', recovering = '', after = ''] = all;
  const run = (block: string) => shell.run(withStatus(block));
  const outcomeOf = async (eventId: string) => {
    const { deliveries } = (await get(`deliveries?eventId=${eventId}`)) as { deliveries: { outcome: string }[] };
    return deliveries[0]?.outcome;
  };
  await run(setUp);
  await run(failing);
  await eventually(() => outcomeOf('pay-2'), PATIENCE);
  const [seen] = jsonIn(await run(reading)) as { delivery: Json & { attempts: Json[] } }[];
  expect(seen?.delivery).toMatchObject({ eventId: 'pay-2', payload: expect.stringContaining('"pay-2"') });
  expect(seen?.delivery.attempts[0]).toMatchObject({
    url: `${served.receiver.url}/payments`,
    trigger: 'event',
    actor: null,
    status: 500,
    response: ANSWER,
  });

  await run(gone);
  const isOff = async () => {
    const { webhooks } = (await get('webhooks')) as { webhooks: { isActive: boolean }[] };
    return webhooks[0]?.isActive === false;
  };
  await eventually(isOff, { ...PATIENCE, message: 'the webhook was not switched off' });
  await run(held);
  await eventually(async () => (await outcomeOf('pay-4')) === 'exhausted', PATIENCE);
  const [health, events] = jsonIn(await run(asking));
  expect(health).toMatchObject({ webhooks: [{ state: 'off', offBy: 'service' }] });
  expect(events).toMatchObject({ events: [{ eventId: 'pay-4', notSent: 'held' }] });

  const [activated, preview] = jsonIn(await run(recovering));
  expect(activated).toMatchObject({ success: true });
  expect(preview).toMatchObject({ count: 3 });
  const delivered = () => ['pay-2', 'pay-3', 'pay-4'].map(outcomeOf);
  const areDelivered = async () => (await Promise.all(delivered())).every((outcome) => outcome === 'delivered');
  await eventually(areDelivered, { ...PATIENCE, message: 'not all were delivered' });
  const [progress, resent, history] = jsonIn(await run(after));
  // On a busy machine a retry of its own may have delivered one before the recovery came to it.
  expect(progress).toMatchObject({ count: 3, delivered: progress?.sent, failed: 0 });
  expect([2, 3]).toContain(progress?.sent);
  expect(resent).toMatchObject({ success: true });
  expect((history as { events: Json[] }).events.map(({ type }) => type)).toContain('RecoveryStarted');
  const idsOf = () =>
    served.receiver.requests
      .filter(({ body }) => body.toString().includes('"pay-2"'))
      .map(({ headers }) => headers['webhook-id']);
  const before = idsOf().length;
  await eventually(() => idsOf().length > before || idsOf().length >= 3, PATIENCE);
  expect(new Set(idsOf()).size).toBe(1);
});
