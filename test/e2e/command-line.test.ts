import { Webhook } from 'standardwebhooks';
import { describeBackbones } from '../support/backbones.js';
import { eventually } from '../support/eventually.js';
import { commandLine } from '../support/in-process-cli.js';
import { Served } from '../support/served.js';
import { run } from '../support/service.js';
import { type Account, installation, paymentEvents, tokenFor } from '../support/story.js';
import { inFull } from '../support/thorough.js';

interface Listed {
  readonly outcome: string;
  readonly attempts: readonly { readonly status: number }[];
}

describeBackbones((backbone) => {
  let failuresLeft = 1;
  const respond = ({ path }: { path: string }) => ({ status: path === '/b' && failuresLeft-- > 0 ? 500 : 200 });
  const served = Served.around({ respond, backbone });

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

  test('events published are delivered to each URL with headers, verbatim and signed; a failure is retried', async () => {
    const lines = paymentEvents(42, 3);
    const published = await commandLine(served.settings, ['events', 'publish', '--json'], lines);
    expect(published).toMatchObject({ code: 0, stdout: '{"published":3}\n' });
    await eventually(() => served.receiver.requests.length === 7, { message: '3 events to 2 URLs and one retry' });
    for (const { headers, body, path } of served.receiver.requests) {
      expect(lines.split('\n')).toContain(body.toString());
      expect(headers['x-api-key']).toBe(path === '/a' ? 'k:1' : undefined);
      const signed = headers as Record<string, string>;
      expect(() => new Webhook(served.account.signingSecret).verify(body.toString(), signed)).not.toThrow();
    }
    const ids = served.receiver.requests.map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids).size).toBe(6);
    const deliveries = await eventually(async () => {
      const all = await served.lines<Listed>('deliveries', 'list', '--account', '42');
      return all.every(({ outcome }) => outcome === 'delivered') && all.length === 6 && all;
    });
    expect(deliveries.flatMap(({ attempts }) => attempts.map(({ status }) => status)).sort()).toEqual([
      200, 200, 200, 200, 200, 200, 500,
    ]);
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

  test('a record that is no payment event goes to the dead letters, and the next one is delivered', async () => {
    const before = served.receiver.requests.length;
    await served.publish(`{"id":1}\n\n${paymentEvents(42, 1, 'after-')}`);
    await eventually(() => served.receiver.requests.length === before + 2);
    const letters = async () => (await served.command('dead-letters', 'list', '--json')).stdout;
    // Of another partition than the payment: the payment may be delivered before it.
    expect(JSON.parse(await eventually(letters))).toMatchObject({ reason: 'not-valid', value: '{"id":1}' });
  });

  test('audit log tells the history with its actors, and no secret', async () => {
    const entries = await served.lines('audit', 'log', '--account', '42');
    expect(entries.map(({ type }) => type)).toEqual([
      'AccountRegistered',
      'CredentialIssued',
      'SigningSecretIssued',
      'WebhookAdded',
      'WebhookAdded',
    ]);
    expect(entries[0]?.actor).toMatch(/^cli:/);
    expect(entries[3]).toMatchObject({ actor: served.account.clientId, data: { webhookId: 1, version: 1 } });
    const secrets = [served.account.clientSecret, served.account.signingSecret, 'k:1'];
    for (const secret of secrets) expect(JSON.stringify(entries) + served.service.log()).not.toContain(secret);
  });

  test('a credential issued by the command line works at once; one revoked ends with its tokens', async () => {
    const issued = await served.command('accounts', 'issue-credential', '42', '--json');
    const second = JSON.parse(issued.stdout) as Account;
    const secondToken = await tokenFor(served.service.url, second);
    const list = () =>
      fetch(`${served.service.url}/api/webhooks`, { headers: { authorization: `Bearer ${secondToken}` } });
    expect((await list()).status).toBe(200);
    expect(await served.command('accounts', 'revoke-credential', second.clientId)).toMatchObject({ code: 0 });
    await eventually(async () => (await list()).status === 401);
    expect(await tokenFor(served.service.url, second)).toBeUndefined();
  });
});

describe('wrong usage and wrong settings', () => {
  test.each([
    [['accounts', 'register', '0'], {}, 2],
    [['accounts', 'register', '9007199254740993'], {}, 2],
    [['nonsense'], {}, 2],
    [['serve', '--roles', 'cook'], {}, 2],
    [['audit', 'log'], {}, 2],
    [['serve'], { PORT: 'many' }, 1, /PORT/],
    [['serve'], { RETRY_SCHEDULE: '5 minutes' }, 1, /RETRY_SCHEDULE/],
    [['serve'], { DELIVERY_CA_FILE: 'no such file', PORT: '0', ADMIN_PORT: '0' }, 1, /DELIVERY_CA_FILE/],
    [['serve'], { DELIVERY_CA_FILE: 'package.json', PORT: '0', ADMIN_PORT: '0' }, 1, /DELIVERY_CA_FILE/],
    [['serve'], { DATA_DIR: 'package.json/below' }, 1, /DATA_DIR/],
    [['serve'], { HOST: '300.1.1.1', ADMIN_PORT: '0' }, 1, /HOST/],
    [['token', '--client-id', 'a', '--client-secret', 'b', '--url', 'http://127.0.0.1:1'], {}, 1, /no service answers/],
    [['accounts', 'revoke-credential', 'nobody'], {}, 1, /nobody/],
  ])('%j with %j ends with code %i', async (args, wrong, code, says = /./) => {
    const { settings, remove } = await installation([]);
    const by = args[0] === 'serve' ? inFull(run, commandLine) : commandLine;
    const result = await by({ ...settings, ...wrong }, args);
    await remove();
    expect(result).toMatchObject({ code, stdout: '' });
    expect(result.stderr).toMatch(says);
    expect(result.stderr).not.toMatch(/ {4}at /);
  });
});
