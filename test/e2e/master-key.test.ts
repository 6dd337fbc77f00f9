import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { describeBackbones, ENDS } from '../support/backbones.js';
import { eventually } from '../support/eventually.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { run, type Settings, serve, start } from '../support/service.js';
import { type Account, addWebhook, installation, paymentEvents, register, tokenFor } from '../support/story.js';

jest.setTimeout(60_000);

const ACCOUNT = 42;
const API_KEY = { key: 'X-Api-Key', value: 'sealed before the change' };
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
  /** What the account's secrets are sealed with: MASTER_KEY, or the key that was made in DATA_DIR. */
  let earlier: string;

  beforeAll(async () => {
    receiver = await startReceiver();
    ({ settings, remove } = await installation([receiver], backbone));
    account = await register(settings, ACCOUNT);
    const service = await serve(settings);
    const webhook = { url: `${receiver.url}/in`, eventType: 'cash_in', headers: [API_KEY] };
    expect(await addWebhook(service.url, await tokenFor(service.url, account), webhook)).toBe(200);
    expect(await service.stop('SIGTERM')).toBe(0);
    earlier = settings.MASTER_KEY ?? readFileSync(join(settings.DATA_DIR ?? '', 'master.key'), 'utf8').trim();
  });

  afterAll(async () => {
    await receiver?.close();
    await remove?.();
  });

  test.each([
    ['api', {}],
    ['dispatcher', {}],
    ['api,dispatcher', { MASTER_KEY_PREVIOUS: newKey() }],
  ])('a master key that was changed ends the start (%s) with one line that says what to set', async (roles, wrong) => {
    const quiet = { LOG_LEVEL: 'silent', PORT: '0', ADMIN_PORT: '0' };
    const { code, stderr } = await serveToItsEnd({ ...settings, MASTER_KEY: newKey(), ...wrong, ...quiet }, roles);
    expect(stderr).toMatch(/^account-webhooks: MASTER_KEY .* account-42 .* MASTER_KEY_PREVIOUS\n$/);
    expect(stderr).not.toContain(earlier);
    expect(code).toBe(1);
  });

  test('with the earlier one as MASTER_KEY_PREVIOUS it starts, and opens what was sealed before', async () => {
    const changed = { ...settings, MASTER_KEY: newKey(), MASTER_KEY_PREVIOUS: earlier };
    const service = await serve(changed);
    try {
      const headers = { authorization: `Bearer ${await tokenFor(service.url, account)}` };
      const listed = await fetch(`${service.url}/api/webhooks`, { headers });
      expect(await listed.json()).toMatchObject({ webhooks: [{ headers: { [API_KEY.key]: API_KEY.value } }] });
      expect((await run(changed, ['events', 'publish'], paymentEvents(ACCOUNT, 1))).code).toBe(0);
      const [request] = await eventually(() => receiver.requests.length > 0 && receiver.requests, { timeout: 20_000 });
      expect(request?.headers).toMatchObject({ 'x-api-key': API_KEY.value });
      new Webhook(account.signingSecret).verify(String(request?.body), request?.headers as Record<string, string>);
    } finally {
      await service.stop('SIGTERM');
    }
  });
}, ENDS);
