import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeBackbones } from '../support/backbones.js';
import { eventually } from '../support/eventually.js';
import { commandLine } from '../support/in-process-cli.js';
import { type ServiceHere, serveHere } from '../support/in-process-service.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { run, type Settings, start } from '../support/service.js';
import { type Account, addWebhook, installation, paymentEvents, register, tokenFor } from '../support/story.js';

const ACCOUNT = 42;
const PATIENCE = { timeout: 20_000 };

describeBackbones((backbone) => {
  let receiver: Receiver;
  let healthy = false;
  let settings: Settings;
  let remove: () => Promise<void>;
  let service: ServiceHere;
  let account: Account;
  let token: string;

  beforeAll(async () => {
    receiver = await startReceiver({ respond: () => ({ status: healthy ? 200 : 503 }) });
    const installed = await installation([receiver], backbone);
    ({ remove } = installed);
    settings = { ...installed.settings, RETRY_SCHEDULE: '100ms' };
    service = await serveHere(settings);
    account = await register(settings, ACCOUNT);
    token = await tokenFor(service.url, account);
  });

  afterAll(async () => {
    await service.stop();
    await receiver.close();
    await remove();
  });

  const webhook = (path: string, key: string) => ({
    url: receiver.url + path,
    eventType: 'cash_in',
    headers: [{ key, value: 'planted-secret' }],
  });

  async function lines(args: readonly string[], by = commandLine): Promise<Record<string, unknown>[]> {
    const { stdout, stderr, code } = await by(settings, [...args, '--json']);
    if (code !== 0) throw new Error(stderr);
    return stdout.split('\n').flatMap((line) => (line ? [JSON.parse(line)] : []));
  }

  test('audit at shows the configuration as it stood, audit log --follow what is added', async () => {
    const following = start(settings, ['audit', 'log', '--account', String(ACCOUNT), '--follow', '--json']);
    let followed = '';
    following.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      followed += chunk;
    });
    await addWebhook(service.url, token, webhook('/a', 'X-One'));
    await eventually(() => followed.includes('WebhookAdded'), PATIENCE);
    const between = new Date().toISOString();
    await eventually(() => Date.now() > Date.parse(between));
    await addWebhook(service.url, token, webhook('/a', 'X-Two'));
    await addWebhook(service.url, token, webhook('/b', 'X-One'));
    await eventually(() => followed.trim().split('\n').length === 6, PATIENCE);
    const ended = new Promise((resolve) => following.once('exit', resolve));
    following.kill('SIGINT');
    expect(await ended).toBe(0);

    const at = (time: string) => lines(['audit', 'at', '--account', String(ACCOUNT), '--time', time]);
    expect(await at(between)).toMatchObject([{ url: `${receiver.url}/a`, version: 1, headers: [{ key: 'X-One' }] }]);
    const now = await at(new Date().toISOString());
    expect(now).toMatchObject([
      { version: 2, headers: [{ key: 'X-Two' }] },
      { url: `${receiver.url}/b`, version: 1 },
    ]);
    expect(JSON.stringify(now) + followed).not.toContain('planted-secret');
    const before = await commandLine(settings, ['audit', 'at', '--account', String(ACCOUNT), '--time', '2020-01-01']);
    expect(before).toMatchObject({ code: 1, stdout: '' });
    expect(await commandLine(settings, ['audit', 'at', '--account', '42', '--time', 'yesterday'])).toMatchObject({
      code: 2,
    });
  });

  test('dead-letters replay tries again what was exhausted, once, under the same webhook-id', async () => {
    await commandLine(settings, ['events', 'publish'], `not json\n${paymentEvents(ACCOUNT, 2)}`);
    const exhausted = async () =>
      (await lines(['dead-letters', 'list'])).filter(({ reason }) => reason === 'exhausted');
    await eventually(async () => (await exhausted()).length === 4, PATIENCE);
    const sent = receiver.requests.length;
    const ids = new Set(receiver.requests.map(({ headers }) => headers['webhook-id']));
    healthy = true;
    expect(await lines(['dead-letters', 'replay', '--event', 'evt-0'], run)).toHaveLength(2);
    expect(await lines(['dead-letters', 'replay'])).toHaveLength(2);
    await eventually(() => receiver.requests.length === sent + 4, PATIENCE);
    const replayed = new Set(receiver.requests.slice(sent).map(({ headers }) => headers['webhook-id']));
    expect(replayed).toEqual(ids);
    await eventually(async () => {
      const all = await lines(['deliveries', 'list', '--account', String(ACCOUNT)]);
      return all.every(({ outcome }) => outcome === 'delivered');
    }, PATIENCE);
    expect(await lines(['dead-letters', 'replay'])).toEqual([]);
  });

  test('projections are of the server that the store is on, if it is', async () => {
    const onServer = 'EVENT_STORE_URL' in settings;
    const deployed = await run(settings, ['projections', 'deploy', '--json']);
    expect(deployed.code).toBe(onServer ? 0 : 1);
    if (!onServer) expect(deployed.stderr).toMatch(/EVENT_STORE_URL/);
    else {
      expect(await lines(['projections', 'status'])).toHaveLength(2);
      expect(await lines(['projections', 'verify'])).toEqual([]);
      expect(await lines(['projections', 'rebuild'])).toHaveLength(2);
      expect(await lines(['projections', 'verify'])).toEqual([]);
    }
  });
});
