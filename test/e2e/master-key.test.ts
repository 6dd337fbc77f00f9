import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { openBackbone } from '../../src/composition/backbone.js';
import { masterKey } from '../../src/secrets/master-keys.js';
import { readConfig } from '../../src/settings/read-config.js';
import { accountStream } from '../../src/webhooks/events.js';
import { describeBackbones } from '../support/backbones.js';
import { eventually } from '../support/eventually.js';
import { commandLine } from '../support/in-process-cli.js';
import { type ReceivedRequest, type Receiver, startReceiver } from '../support/receiver.js';
import { type Service, type Settings, serve, start } from '../support/service.js';
import { silentLogger } from '../support/silent-logger.js';
import { type Account, addWebhook, installation, paymentEvents, register, tokenFor } from '../support/story.js';
import { inFull } from '../support/thorough.js';

const ACCOUNT = 42;
const API_KEY = { key: 'X-Api-Key', value: 'sealed before the change' };
const WEBHOOK = { eventType: 'cash_in', headers: [API_KEY] };
const newKey = () => randomBytes(32).toString('base64');

/** `serve` that is expected to end by itself. */
async function serveToItsEnd(settings: Settings, roles: string) {
  const child = start(settings, ['serve', '--roles', roles]);
  const stderr = child.stderr ? text(child.stderr) : '';
  try {
    await eventually(() => child.exitCode !== null, { timeout: 20_000, message: 'serve goes on' });
  } finally {
    child.kill('SIGKILL');
  }
  return { code: child.exitCode, stderr: await stderr };
}

describeBackbones((backbone) => {
  let receiver: Receiver;
  let settings: Settings;
  let remove: () => Promise<void>;
  let account: Account;
  let tokenOfBefore: string;
  /** What the account's secrets are sealed with: MASTER_KEY, or the key that was made in DATA_DIR. */
  let earlier: string;

  beforeAll(async () => {
    receiver = await startReceiver();
    ({ settings, remove } = await installation([receiver], backbone));
    account = await register(settings, ACCOUNT);
    const service = await serve(settings);
    tokenOfBefore = await tokenFor(service.url, account);
    const webhook = { ...WEBHOOK, url: `${receiver.url}/in` };
    expect(await addWebhook(service.url, tokenOfBefore, webhook)).toBe(200);
    expect(await service.stop('SIGTERM')).toBe(0);
    earlier = settings.MASTER_KEY ?? readFileSync(join(settings.DATA_DIR ?? '', 'master.key'), 'utf8').trim();
  });

  afterAll(async () => {
    await receiver?.close();
    await remove?.();
  });

  const starts: [string, Settings][] = [
    ['api,dispatcher', { MASTER_KEY_PREVIOUS: newKey() }],
    ['api', {}],
    ['dispatcher', {}],
  ];
  test.each(inFull(starts, starts.slice(0, 1)))(
    'a master key that was changed ends the start (%s) with one line that says what to set',
    async (roles, wrong) => {
      const quiet = { LOG_LEVEL: 'silent', PORT: '0', ADMIN_PORT: '0' };
      const { code, stderr } = await serveToItsEnd({ ...settings, MASTER_KEY: newKey(), ...wrong, ...quiet }, roles);
      expect(stderr).toMatch(/^account-webhooks: MASTER_KEY .* account-42 .* MASTER_KEY_PREVIOUS\n$/);
      expect(stderr).not.toContain(earlier);
      expect(code).toBe(1);
    },
  );

  describe('with the earlier one as MASTER_KEY_PREVIOUS', () => {
    let changed: Settings;
    let service: Service;
    beforeAll(async () => {
      changed = { ...settings, MASTER_KEY: newKey(), MASTER_KEY_PREVIOUS: earlier };
      service = await serve(changed);
    });
    afterAll(() => service?.stop('SIGTERM'));

    const keyIdOf = (base64 = '') => masterKey(Buffer.from(base64, 'base64')).id;

    /** By which keys the sealed values of an account are sealed, in the order of its events. */
    async function sealedBy(accountId: number): Promise<string[]> {
      const { store, close } = await openBackbone(readConfig(changed), silentLogger);
      let history = '';
      for await (const { data } of store.read(accountStream(accountId))) history += JSON.stringify(data);
      await close();
      return [...history.matchAll(/"v1\.([0-9a-f]{8})\./g)].map(([, id = '']) => id);
    }

    test('it starts, and opens what was sealed before', async () => {
      const headers = { authorization: `Bearer ${await tokenFor(service.url, account)}` };
      const listed = await fetch(`${service.url}/api/webhooks`, { headers });
      expect(await listed.json()).toMatchObject({ webhooks: [{ headers: { [API_KEY.key]: API_KEY.value } }] });
      expect((await commandLine(changed, ['events', 'publish'], paymentEvents(ACCOUNT, 1))).code).toBe(0);
      const [request] = await eventually(() => receiver.requests.length > 0 && receiver.requests, { timeout: 20_000 });
      expect(request?.headers).toMatchObject({ 'x-api-key': API_KEY.value });
      new Webhook(account.signingSecret).verify(String(request?.body), request?.headers as Record<string, string>);
    });

    test('a token of before is taken until it expires, and the same credentials get a new one', async () => {
      const statusWith = async (token: string) => {
        const headers = { authorization: `Bearer ${token}` };
        const { status, body } = await fetch(`${service.url}/api/webhooks`, { headers });
        await body?.cancel();
        return status;
      };
      expect(await statusWith(tokenOfBefore)).toBe(200);
      expect(await statusWith(await tokenFor(service.url, account))).toBe(200);
    });

    test('what is written from then on is sealed with the new key, be it of an account of before', async () => {
      const [before, now] = [keyIdOf(earlier), keyIdOf(changed.MASTER_KEY)];
      expect(await sealedBy(ACCOUNT)).toEqual([before, before]);
      const anew = { key: API_KEY.key, value: 'sealed anew' };
      const again = { ...WEBHOOK, url: `${receiver.url}/in`, headers: [anew] };
      expect(await addWebhook(service.url, await tokenFor(service.url, account), again)).toBe(200);
      expect((await commandLine(changed, ['accounts', 'rotate-secret', String(ACCOUNT)])).code).toBe(0);
      expect(await sealedBy(ACCOUNT)).toEqual([before, before, now, now]);
      const another = await register(changed, 43);
      expect(await addWebhook(service.url, await tokenFor(service.url, another), again)).toBe(200);
      expect(await sealedBy(43)).toEqual([now, now]);

      const sent = receiver.requests.length;
      expect((await commandLine(changed, ['events', 'publish'], paymentEvents(ACCOUNT, 1, 'anew-'))).code).toBe(0);
      await eventually(() => receiver.requests.length > sent, { timeout: 20_000 });
      const { headers, body } = receiver.requests[sent] as ReceivedRequest;
      expect(headers).toMatchObject({ 'x-api-key': anew.value });
      // The secret that was rotated away signs beside the new one: one is opened with each key.
      new Webhook(account.signingSecret).verify(String(body), headers as Record<string, string>);
      expect(String(headers['webhook-signature']).split(' ')).toHaveLength(2);
    });
  });
});
