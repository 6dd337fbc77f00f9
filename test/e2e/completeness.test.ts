import { randomBytes } from 'node:crypto';
import { commandLine } from '../support/clients/in-process-cli.js';
import { jsonLines } from '../support/clients/service.js';
import { eventually } from '../support/clocks/eventually.js';
import { describeBackbones } from '../support/scenes/backbones.js';
import { Served } from '../support/scenes/served.js';
import { paymentEvents } from '../support/scenes/story.js';
import { temporaryDirectory } from '../support/scenes/temporary-directory.js';

/** What stderr says of an audit that is complete. */
const ROOM_ALONE = /^account-webhooks: \S+ may need \d+ MiB\n$/;
const ACCOUNT = 42;
const PATIENCE = { timeout: 20_000 };
const STATUS: Readonly<Record<string, number>> = { '/ok': 200, '/down': 503, '/gone': 410 };
const HOUR = 3_600_000;
const EMPTY = { records: 0, events: 0, invalid: 0, unreadable: 0, notDue: 0, deliveries: 0 };
const ENDS = { delivered: 0, exhausted: 0, cancelled: 0 };
const NO_OUTCOME = { ...ENDS, retrying: {}, waiting: 0, unanswered: 0, unexpected: 0 };

type Line = Readonly<Record<string, unknown>>;

describeBackbones((backbone) => {
  const before = Date.now();
  const served = Served.around({
    respond: ({ path }) => ({ status: STATUS[path] ?? 404 }),
    backbone,
    settings: { RETRY_SCHEDULE: '100ms' },
  });
  beforeAll(async () => {
    for (const path of Object.keys(STATUS)) expect(await served.addWebhook(path)).toBe(200);
    served.settings = { ...served.settings, RETRY_SCHEDULE: '1h' };
  });

  const period = (from = before, to = before + HOUR) => [
    ...['--from', new Date(from).toISOString()],
    ...['--to', new Date(to).toISOString()],
  ];
  const audit = () => served.command('audit', 'completeness', ...period());
  const publish = (lines: string) => served.publish(lines);

  async function lines(
    args: readonly string[] = period(),
    from = served.settings,
  ): Promise<{ code: number | null; all: Line[] }> {
    const { stdout, code } = await commandLine(from, ['audit', 'completeness', ...args, '--json']);
    return { code, all: jsonLines<Line>(stdout) };
  }

  async function summary(args: readonly string[] = period()): Promise<Line> {
    return (await lines(args)).all.at(-1) ?? {};
  }

  test('each outcome is counted: delivered, exhausted, held after a 410, no event, nothing due', async () => {
    const others = [
      paymentEvents(99, 1, 'unknown-'),
      paymentEvents(ACCOUNT, 1, 'quiet-').replace('cash_in', 'cash_out'),
    ];
    const ended = (exhausted: number) =>
      eventually(async () => {
        const found = await summary();
        return found.waiting === 0 && found.exhausted === exhausted && found;
      }, PATIENCE);
    await publish(['not json\n', paymentEvents(ACCOUNT, 1), ...others].join(''));
    await ended(2);
    // Again, under the same id: the third is held, for the 410 has switched its webhook off.
    await publish(paymentEvents(ACCOUNT, 1));
    const { from, to, account, kind, ...counts } = await ended(4);
    expect({ from, to, account, kind }).toEqual({
      kind: 'summary',
      from: new Date(before).toISOString(),
      to: new Date(before + HOUR).toISOString(),
      account: null,
    });
    const answered = { ...NO_OUTCOME, delivered: 2, exhausted: 4 };
    expect(counts).toEqual({ ...EMPTY, ...answered, records: 5, invalid: 1, events: 3, notDue: 2, deliveries: 6 });
    expect(await audit()).toMatchObject({ code: 0, stderr: expect.stringMatching(ROOM_ALONE) });
  });

  test('what waits is told with its tier and its time, on one line whatever a stranger wrote', async () => {
    await served.restart();
    const eventId = 'one\nunanswered  \u001b[2J';
    const at = Date.now();
    await publish(JSON.stringify({ id: eventId, type: 'cash_in', accountId: ACCOUNT }));
    const { all } = await eventually(async () => {
      const found = await lines();
      // The other delivery has its end too.
      return found.code === 0 && found.all.length === 2 && found.all[1]?.waiting === 0 && found;
    }, PATIENCE);
    const [open, counts] = all;
    expect(open).toMatchObject({ kind: 'open', eventId, accountId: ACCOUNT, webhookId: 2, tier: '1h' });
    expect(Date.parse(String(open?.nextAttemptAt))).toBeGreaterThan(at + HOUR - 1_000);
    expect(counts).toMatchObject({ events: 4, delivered: 3, exhausted: 5, retrying: { '1h': 1 } });
    const { stdout } = await audit();
    expect(stdout).toMatch(/^retrying {4}1h 1$/m);
    const told = `eventId one\\u000aunanswered  \\u001b[2J  accountId ${ACCOUNT}  webhookId 2  source `;
    const [line = ''] = stdout.split('\n').filter((one) => one.startsWith('open        id msg_'));
    expect(line).toContain(told);
    expect(line).toMatch(/payment-events\/\d+\/\d+ {2}tier 1h {2}nextAttemptAt /);
    expect(stdout.trim().split('\n')).toHaveLength(14);
  });

  test('it needs no read model, and where there are servers no file and no key of the installation', async () => {
    const elsewhere = temporaryDirectory();
    const { settings } = served;
    const onServers = 'EVENT_STORE_URL' in settings && 'BROKER_URL' in settings;
    const own = { DATA_DIR: elsewhere.path, MASTER_KEY: randomBytes(32).toString('base64') };
    const there = await lines(period(), onServers ? { ...settings, ...own } : settings);
    elsewhere.remove();
    expect(there).toEqual(await lines());
    expect(there.all.at(-1)).toMatchObject({ records: 6 });
  });
});
