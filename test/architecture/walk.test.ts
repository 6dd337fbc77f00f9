/**
 * How many files of src/ run because of one call: an embedded service is warmed up, then each way is gone several times, and
 * what ran every time counts, so that a timer that fires meanwhile does not.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { EVENT_TYPES } from '../../src/webhooks/limits.js';
import { testInFull } from '../runner/thorough.js';
import { eventually } from '../support/clocks/eventually.js';
import { addWebhook, installation, paymentEvents, publishEvents, register, tokenFor } from '../support/scenes/story.js';
import { startReceiver } from '../support/servers/receiver.js';

/** Each step lowers them. 459d24c9 has 65 and 99 so counted. */
const CEILINGS = { post: 50, payment: 75 };
const ACCOUNT = 42;
const OTHER_TYPES = EVENT_TYPES.filter((type) => type !== 'cash_in');
const WARM_UP = 3;
/** In a row that take no file away. */
const TIMES = 8;
/** Looks in a row that found nothing that had not run before: the way is at its end. */
const QUIET_LOOKS = 20;

const pathOf = (file: string) => fileURLToPath(new URL(file, import.meta.url));

testInFull('a POST and a payment run through no more files than before', async () => {
  const receiver = await startReceiver();
  const { settings, remove } = await installation([receiver]);
  const service = fork(pathOf('../../src/main.ts'), ['serve'], {
    execArgv: ['../../scripts/typescript/register.js', 'count-runs.js'].flatMap((file) => ['--import', pathOf(file)]),
    env: { PATH: process.env.PATH, ...settings, PORT: '0', ADMIN_PORT: '0' },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  try {
    const url = `http://127.0.0.1:${await apiPortOf(service)}`;
    const token = await tokenFor(url, await register(settings, ACCOUNT));
    let count = 0;
    // An account has up to three URLs for each type: on a busy machine, which takes more calls, they are registered again.
    const post = async (eventType = OTHER_TYPES[count % OTHER_TYPES.length] ?? '') => {
      const hook = `${receiver.url}/hook-${count % (3 * OTHER_TYPES.length)}`;
      count += 1;
      expect(await addWebhook(url, token, { eventType, url: hook })).toBe(200);
    };
    await post('cash_in');
    const pay = async () => {
      count += 1;
      const taken = receiver.taken.length;
      await publishEvents(settings, paymentEvents(ACCOUNT, 1, `pay-${count}-`));
      await eventually(() => receiver.taken.length > taken);
    };
    const posted = await everyTime(service, () => post());
    const paid = await everyTime(service, pay);
    // What each of them can't do without: an empty walk would be below each ceiling.
    expect(posted).toEqual(expect.arrayContaining(['src/webhooks/decide.ts', 'src/http/webhooks/register-webhook.ts']));
    expect(paid).toEqual(expect.arrayContaining(['src/delivery/fan-out.ts', 'src/delivery/attempt/exchange.ts']));
    expect(posted.length).toBeLessThanOrEqual(CEILINGS.post);
    expect(paid.length).toBeLessThanOrEqual(CEILINGS.payment);
  } finally {
    const exited = once(service, 'exit');
    service.kill('SIGTERM');
    await exited;
    await receiver.close();
    await remove();
  }
});

async function everyTime(service: ChildProcess, call: () => Promise<void>): Promise<readonly string[]> {
  for (let time = 0; time < WARM_UP; time += 1) await call();
  let always: readonly string[] | undefined;
  for (let same = 0; same < TIMES; ) {
    await untilQuiet(service);
    await call();
    const files = await untilQuiet(service);
    const left: readonly string[] = always?.filter((file) => files.includes(file)) ?? files;
    // On a busy machine timers of a second fall into several calls.
    same = left.length === always?.length ? same + 1 : 0;
    always = left;
  }
  return always ?? [];
}

/** @returns what ran until then */
async function untilQuiet(service: ChildProcess): Promise<readonly string[]> {
  const seen = new Set<string>();
  let quiet = 0;
  await eventually(async () => {
    const before = seen.size;
    const answer = once(service, 'message');
    service.send('which files ran?');
    for (const file of (await answer)[0] as string[]) seen.add(file);
    quiet = seen.size === before ? quiet + 1 : 0;
    return quiet >= QUIET_LOOKS;
  });
  return [...seen];
}

async function apiPortOf(service: ChildProcess): Promise<number> {
  let log = '';
  service.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    log += chunk;
  });
  const line = () => {
    if (service.exitCode !== null) throw new Error(`serve ended: ${log}`);
    return log.split('\n').find((entry) => entry.includes('"msg":"ready"'));
  };
  return JSON.parse(await eventually(line, { timeout: 60_000, message: 'the service is not ready' })).apiPort;
}
