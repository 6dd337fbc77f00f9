import { inFull } from '../runner/thorough.js';
import { commandLine } from '../support/clients/in-process-cli.js';
import { run } from '../support/clients/service.js';
import { eventually } from '../support/clocks/eventually.js';
import { describeBackbones } from '../support/scenes/backbones.js';
import { Served } from '../support/scenes/served.js';
import { installation } from '../support/scenes/story.js';

describeBackbones((backbone) => {
  const served = Served.around({ backbone });

  const cli = (args: readonly string[], stdin = '', by = run) =>
    by(served.settings, [...args, '--url', served.service.url], stdin);

  test('accounts register prints the secrets in the shape that is promised, and refuses a second time', async () => {
    expect(Object.keys(served.account)).toEqual(['accountId', 'clientId', 'clientSecret', 'signingSecret']);
    expect(served.account.clientId).toMatch(/^[A-Za-z0-9\-_.~]+$/);
    expect(served.account.clientSecret).toMatch(/^[A-Za-z0-9\-_.~]+$/);
    const again = await served.command('accounts', 'register', '42', '--json');
    expect(again).toMatchObject({ code: 1, stdout: '' });
    expect(again.stderr).toMatch(/already registered/);
  });

  test('token, webhooks add and webhooks list speak to the running service', async () => {
    const credentials = ['--client-id', served.account.clientId, '--client-secret', served.account.clientSecret];
    const bare = await cli(['token', ...credentials]);
    const json = await cli(['token', ...credentials, '--json'], '', commandLine);
    expect(bare.stdout.trim().split('.')).toHaveLength(3);
    expect(JSON.parse(json.stdout)).toMatchObject({ token_type: 'Bearer', expires_in: 3600 });
    const header = ['--header', 'X-Api-Key: k:1', '--json'];
    const added = await cli([
      'webhooks',
      'add',
      `${served.receiver.url}/a`,
      'cash_in',
      ...header,
      '--token',
      served.token,
    ]);
    expect(JSON.parse(added.stdout)).toMatchObject({ success: true });
    expect(await served.addWebhook('/b')).toBe(200);
    const list = await cli(['webhooks', 'list', '--json'], bare.stdout);
    expect(JSON.parse(list.stdout)).toMatchObject({
      accountId: 42,
      total: 2,
      webhooks: [
        { id: 1, headers: { 'X-Api-Key': 'k:1' } },
        { id: 2, headers: {} },
      ],
    });
    const refused = await cli(
      ['webhooks', 'add', 'http://example.com', 'cash_in', '--token', served.token],
      '',
      commandLine,
    );
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(/400.*url/);
  });

  test('what a stranger wrote prints as one line, and moves no cursor', async () => {
    const id = 'one\n2026-01-01T00:00:00.000Z  forged\u001b[2J';
    await served.publish(JSON.stringify({ id, type: 'cash_in', accountId: 42 }));
    const list = ['deliveries', 'list', '--account', '42'];
    await eventually(async () => (await served.command(...list)).stdout.includes('forged'));
    const { stdout: printed } = await served.command(...list);
    expect(printed).not.toMatch(/^2026-01-01/m);
    expect(printed).not.toContain('\u001b');
    expect(printed).toContain('one\\u000a2026');
  });
});

const NO_STORE = /no store\.sqlite in DATA_DIR/;

describe('wrong usage and wrong settings', () => {
  const SECRET = 'planted-secret';
  const PORTS = { PORT: '0', ADMIN_PORT: '0' };
  test.each([
    [['accounts', 'register', '0'], {}, 2],
    [['nonsense'], {}, 2],
    [['serve', '--roles', 'cook'], {}, 2],
    [['audit', 'log'], {}, 2],
    [['serve'], { PORT: 'many' }, 1, /PORT/],
    [['serve'], { DELIVERY_CA_FILE: 'no such file', ...PORTS }, 1, /DELIVERY_CA_FILE/],
    [['serve'], { DATA_DIR: 'package.json/below' }, 1, /DATA_DIR/],
    [['serve'], { HOST: '300.1.1.1', ADMIN_PORT: '0' }, 1, /HOST/],
    [
      ['token', '--client-id', 'a', '--client-secret', SECRET, '--url', 'http://127.0.0.1:1'],
      {},
      1,
      /no service answers/,
    ],
    // A mistyped DATA_DIR is no empty installation.
    [['accounts', 'revoke-credential', 'nobody'], {}, 1, NO_STORE],
    [['audit', 'completeness', '--from', '2026-01-01', '--to', '2026-01-02'], {}, 1, NO_STORE],
    [['publishers', 'list'], {}, 1, NO_STORE],
    [['events', 'publish'], {}, 1, NO_STORE],
  ])('%j with %j ends with code %i, and shows no secret', async (args, wrong, code, says = /./) => {
    const { settings, remove } = await installation([]);
    const by = args[0] === 'serve' ? inFull(run, commandLine) : commandLine;
    const result = await by({ ...settings, ...wrong }, args);
    await remove();
    expect(result).toMatchObject({ code, stdout: '' });
    expect(result.stderr).toMatch(says);
    expect(result.stderr).not.toMatch(/ {4}at |planted/);
  });
});
