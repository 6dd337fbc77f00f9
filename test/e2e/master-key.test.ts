import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { openBackbone } from '../../src/composition/backbone.js';
import { masterKey } from '../../src/secrets/master-keys.js';
import { readConfig } from '../../src/settings/read-config.js';
import { accountStream } from '../../src/webhooks/events.js';
import { run, type Settings } from '../support/clients/service.js';
import { eventually } from '../support/clocks/eventually.js';
import { describeBackbones } from '../support/scenes/backbones.js';
import { Served } from '../support/scenes/served.js';
import { silentLogger } from '../support/scenes/silent-logger.js';
import { listWebhooks, paymentEvents, register, tokenFor } from '../support/scenes/story.js';

const ACCOUNT = 42;
const API_KEY = { key: 'X-Api-Key', value: 'sealed before the change' };
const ANEW = { ...API_KEY, value: 'sealed anew' };
const newKey = () => randomBytes(32).toString('base64');

describeBackbones((backbone) => {
  const served = Served.around({ backbone, isProcess: true });
  /** What the account's secrets are sealed with: MASTER_KEY, or the key that was made in DATA_DIR. */
  let earlier: string;

  beforeAll(async () => {
    expect(await served.addWebhook('/in', 'cash_in', [API_KEY])).toBe(200);
    expect(await served.service.stop()).toBe(0);
    const { MASTER_KEY, DATA_DIR = '' } = served.settings;
    earlier = MASTER_KEY ?? readFileSync(join(DATA_DIR, 'master.key'), 'utf8').trim();
  });

  const starts: [string, Settings][] = [
    ['api,dispatcher', { MASTER_KEY_PREVIOUS: newKey() }],
    ['api', {}],
    ['dispatcher', {}],
  ];
  test.each(starts)(
    'a master key that was changed ends the start (%s) with one line that says what to set',
    async (roles, wrong) => {
      const quiet = { LOG_LEVEL: 'silent', PORT: '0', ADMIN_PORT: '0' };
      const settings = { ...served.settings, MASTER_KEY: newKey(), ...wrong, ...quiet };
      const { code, stderr } = await run(settings, ['serve', '--roles', roles]);
      expect(stderr).toMatch(/^account-webhooks: MASTER_KEY .* account-42 .* MASTER_KEY_PREVIOUS\n$/);
      expect(stderr).not.toContain(earlier);
      expect(code).toBe(1);
    },
  );

  test.each(['register 43', `rotate-secret ${ACCOUNT}`])(
    'accounts %s with a key that was changed changes nothing',
    async (words) => {
      const { code, stderr } = await run({ ...served.settings, MASTER_KEY: newKey() }, [
        'accounts',
        ...words.split(' '),
      ]);
      expect(stderr).toMatch(/^account-webhooks: MASTER_KEY .* account-42 .* MASTER_KEY_PREVIOUS\n$/);
      expect(code).toBe(1);
    },
  );

  describe('with the earlier one as MASTER_KEY_PREVIOUS', () => {
    beforeAll(async () => {
      served.settings = { ...served.settings, MASTER_KEY: newKey(), MASTER_KEY_PREVIOUS: earlier };
      await served.serve();
    });

    const keyIdOf = (base64 = '') => masterKey(Buffer.from(base64, 'base64')).id;

    /** By which keys the sealed values of an account are sealed, in the order of its events. */
    async function sealedBy(accountId: number): Promise<string[]> {
      const { store, close } = await openBackbone(readConfig(served.settings), silentLogger);
      let history = '';
      for await (const { data } of store.read(accountStream(accountId))) history += JSON.stringify(data);
      await close();
      return [...history.matchAll(/"v1\.([0-9a-f]{8})\./g)].map(([, id = '']) => id);
    }

    /** Publishes a payment; checks the request's signature by the account's first secret. @returns its headers */
    async function delivered(prefix: string): Promise<Record<string, string>> {
      const sent = served.receiver.requests.length;
      await served.publish(paymentEvents(ACCOUNT, 1, prefix));
      const request = await eventually(() => served.receiver.requests[sent], { timeout: 20_000 });
      const headers = request.headers as Record<string, string>;
      new Webhook(served.account.signingSecret).verify(String(request.body), headers);
      return headers;
    }

    test('it starts, and opens what was sealed before', async () => {
      const { webhooks } = await listWebhooks(served.service, await tokenFor(served.service.url, served.account));
      expect(webhooks).toMatchObject([{ headers: { [API_KEY.key]: API_KEY.value } }]);
      expect(await delivered('before-')).toMatchObject({ 'x-api-key': API_KEY.value });
    });

    test('a token of before is taken until it expires', async () => {
      expect((await listWebhooks(served.service, served.token)).status).toBe(200);
    });

    test('what is written from then on is sealed with the new key, be it of an account of before', async () => {
      const [before, now] = [keyIdOf(earlier), keyIdOf(served.settings.MASTER_KEY)];
      expect(await sealedBy(ACCOUNT)).toEqual([before, before]);
      expect(await served.addWebhook('/in', 'cash_in', [ANEW])).toBe(200);
      expect(await served.command('accounts', 'rotate-secret', String(ACCOUNT))).toMatchObject({ code: 0 });
      expect(await sealedBy(ACCOUNT)).toEqual([before, before, now, now]);
      await register(served.settings, 43);
      expect(await sealedBy(43)).toEqual([now]);
      const headers = await delivered('anew-');
      expect(headers).toMatchObject({ 'x-api-key': ANEW.value });
      // The secret that was rotated away signs beside the new one: one is opened with each key.
      expect(headers['webhook-signature']?.split(' ')).toHaveLength(2);
    });
  });
});
