import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { describeBackbones } from '../support/backbones.js';
import { eventually } from '../support/eventually.js';
import { commandLine } from '../support/in-process-cli.js';
import { type ServiceHere, serveHere } from '../support/in-process-service.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import type { Settings } from '../support/service.js';
import { addWebhook, installation, paymentEvents, register, tokenFor } from '../support/story.js';
import { temporaryDirectory } from '../support/temporary-directory.js';

const ACCOUNT = 42;
const PATIENCE = { timeout: 20_000 };
const STATUS: Readonly<Record<string, number>> = { '/ok': 200, '/down': 503, '/gone': 410 };
const HOUR = 3_600_000;
const EMPTY = { records: 0, events: 0, invalid: 0, unreadable: 0, notDue: 0, deliveries: 0 };
const NO_OUTCOME = { delivered: 0, exhausted: 0, cancelled: 0, inactive: 0, retrying: {}, unanswered: 0 };

jest.setTimeout(300_000);

type Line = Readonly<Record<string, unknown>>;

describeBackbones((backbone) => {
  let receiver: Receiver;
  let settings: Settings;
  let remove: () => Promise<void>;
  let service: ServiceHere | null = null;
  let token: string;
  const before = Date.now();

  beforeAll(async () => {
    receiver = await startReceiver({ respond: ({ path }) => ({ status: STATUS[path] ?? 404 }) });
    ({ settings, remove } = await installation([receiver], backbone));
    service = await serveHere({ ...settings, RETRY_SCHEDULE: '100ms' });
    token = await tokenFor(service.url, await register(settings, ACCOUNT));
    for (const path of Object.keys(STATUS)) {
      expect(await addWebhook(service.url, token, { url: receiver.url + path, eventType: 'cash_in' })).toBe(200);
    }
  });

  afterAll(async () => {
    await service?.stop();
    await receiver.close();
    await remove();
  });

  const period = (from = before, to = before + HOUR) => [
    ...['--from', new Date(from).toISOString()],
    ...['--to', new Date(to).toISOString()],
  ];
  const audit = () => commandLine(settings, ['audit', 'completeness', ...period()]);
  const publish = (lines: string) => commandLine(settings, ['events', 'publish'], lines);

  async function lines(
    args: readonly string[] = period(),
    from = settings,
  ): Promise<{ code: number | null; all: Line[] }> {
    const { stdout, code } = await commandLine(from, ['audit', 'completeness', ...args, '--json']);
    return { code, all: stdout.split('\n').flatMap((line) => (line ? [JSON.parse(line) as Line] : [])) };
  }

  async function summary(args: readonly string[] = period()): Promise<Line> {
    return (await lines(args)).all.at(-1) ?? {};
  }

  test('each outcome is counted: delivered, exhausted, switched off by a 410, no event, nothing due', async () => {
    const others = [
      paymentEvents(99, 1, 'unknown-'),
      paymentEvents(ACCOUNT, 1, 'quiet-').replace('cash_in', 'cash_out'),
    ];
    await publish(['not json\n', paymentEvents(ACCOUNT, 1), paymentEvents(ACCOUNT, 1), ...others].join(''));
    const { from, to, account, kind, ...counts } = await eventually(async () => {
      const found = await summary();
      return found.unanswered === 0 && found.exhausted === 2 && found;
    }, PATIENCE);
    expect({ from, to, account, kind }).toEqual({
      kind: 'summary',
      from: new Date(before).toISOString(),
      to: new Date(before + HOUR).toISOString(),
      account: null,
    });
    const answered = { ...NO_OUTCOME, delivered: 1, exhausted: 2 };
    expect(counts).toEqual({ ...answered, records: 5, invalid: 1, unreadable: 0, events: 3, notDue: 2, deliveries: 3 });
    expect(await audit()).toMatchObject({ code: 0, stderr: '' });
  });

  test('what waits is told with its tier and its time, on one line whatever a stranger wrote', async () => {
    await service?.stop();
    service = await serveHere({ ...settings, RETRY_SCHEDULE: '1h' });
    const eventId = 'one\nno answer   \u001b[2J';
    const at = Date.now();
    await publish(JSON.stringify({ id: eventId, type: 'cash_in', accountId: ACCOUNT }));
    const { all } = await eventually(async () => {
      const found = await lines();
      return found.code === 0 && found.all.length === 2 && found;
    }, PATIENCE);
    const [open, counts] = all;
    expect(open).toMatchObject({ kind: 'open', eventId, accountId: ACCOUNT, webhookId: 2, tier: '1h' });
    expect(Date.parse(String(open?.nextAttemptAt))).toBeGreaterThan(at + HOUR - 1_000);
    expect(counts).toMatchObject({ events: 4, delivered: 2, exhausted: 2, retrying: { '1h': 1 } });
    const { stdout } = await audit();
    expect(stdout).toMatch(/^retrying {4}1 {2}\(1h 1\)$/m);
    expect(stdout).toContain(
      `open        event one\\u000ano answer   \\u001b[2J  webhook 2  account ${ACCOUNT}  tier 1h`,
    );
    expect(stdout.trim().split('\n')).toHaveLength(13);
  });

  test('a period and an account have their own, and nothing of others', async () => {
    expect(await summary(period(before - HOUR, before))).toMatchObject({ ...EMPTY, ...NO_OUTCOME });
    expect(await summary([...period(), '--account', '99'])).toMatchObject({ records: 1, events: 1, notDue: 1 });
    await register(settings, 7);
    expect(await summary([...period(), '--account', '7'])).toMatchObject({ ...EMPTY, ...NO_OUTCOME, account: 7 });
  });

  test('an event that nobody has consumed has no answer, and the exit code says so; then it has one', async () => {
    await service?.stop();
    service = null;
    await publish(`nothing\n${paymentEvents(ACCOUNT, 1, 'late-')}`);
    const { code, all } = await lines();
    expect(code).toBe(1);
    const unanswered = all.filter(({ kind }) => kind === 'unanswered');
    expect(unanswered).toMatchObject([
      { eventId: 'late-0', accountId: ACCOUNT, webhookId: 1, source: null, id: expect.stringMatching(/^msg_/) },
      { eventId: 'late-0', accountId: ACCOUNT, webhookId: 2, source: null },
      { eventId: null, accountId: null, source: expect.stringMatching(/^payment-events.*\/\d+\/\d+$/) },
    ]);
    expect(all.at(-1)).toMatchObject({ kind: 'summary', unanswered: 3 });
    const told = await audit();
    expect(told).toMatchObject({ code: 1, stderr: 'account-webhooks: 3 without an answer\n' });
    expect(told.stdout).toMatch(/^no answer {3}event late-0 {2}webhook 1 {2}account 42 {2}nothing is logged of it$/m);
    expect(told.stdout).toMatch(/^no answer {3}record payment-events.* {2}it is no payment event, and not among/m);
    service = await serveHere({ ...settings, RETRY_SCHEDULE: '1h' });
    const answered = await eventually(async () => {
      const found = await lines();
      return found.code === 0 && found;
    }, PATIENCE);
    expect(answered.all.at(-1)).toMatchObject({ records: 8, delivered: 3, retrying: { '1h': 2 }, unanswered: 0 });
  });

  test('it needs no read model, and where there are servers no file and no key of the installation', async () => {
    const elsewhere = temporaryDirectory();
    const onServers = 'EVENT_STORE_URL' in settings && 'BROKER_URL' in settings;
    const own = { DATA_DIR: elsewhere.path, MASTER_KEY: randomBytes(32).toString('base64') };
    const there = await lines(period(), onServers ? { ...settings, ...own } : settings);
    elsewhere.remove();
    expect(there).toEqual(await lines());
    expect(there.all.at(-1)).toMatchObject({ records: 8 });
  });

  test('where a webhook was switched off before an event was routed, that is a figure of its own', async () => {
    await service?.stop();
    await publish(paymentEvents(ACCOUNT, 1, 'off-'));
    service = await serveHere({ ...settings, RETRY_SCHEDULE: '1h' }, ['api']);
    expect(await switchOff(`${service.url}/api/webhooks/2`, token)).toBe(200);
    await service.stop();
    expect(await summary()).toMatchObject({ retrying: { '1h': 2 }, exhausted: 2, inactive: 1, unanswered: 1 });
    service = await serveHere({ ...settings, RETRY_SCHEDULE: '1h' });
    const { all } = await eventually(async () => {
      const found = await lines();
      return found.code === 0 && found;
    }, PATIENCE);
    expect(all.at(-1)).toMatchObject({ delivered: 4, retrying: { '1h': 2 }, exhausted: 2, inactive: 1 });
    expect((await audit()).stdout).toMatch(/^cancelled {3}0\ninactive {4}1$/m);
  });
});

describe('wrong usage', () => {
  const day = ['--from', '2026-11-21', '--to', '2026-11-22'];
  test.each([
    [['--from', '2026-11-22', '--to', '2026-11-21'], /--from is later than --to/],
    [['--from', 'yesterday', '--to', '2026-11-22'], /Write a time as/],
    [['--from', '2026-11-21'], /--to/],
    [[...day, '--account', '0'], /account id/],
  ])('%j: code 2, and a line that says it', async (args, says) => {
    const { code, stdout, stderr } = await commandLine({}, ['audit', 'completeness', ...args]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(says);
  });
});

async function switchOff(url: string, token: string): Promise<number> {
  const response = await fetch(url, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ isActive: false }),
  });
  await response.arrayBuffer();
  return response.status;
}
