import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DeliveryView } from '../../src/delivery/log/delivery-log.js';
import { describeBackbones } from '../support/backbones.js';
import { certificateFor, testAuthority } from '../support/certificates.js';
import { eventually } from '../support/eventually.js';
import { commandLine } from '../support/in-process-cli.js';
import { type ServiceHere, serveHere } from '../support/in-process-service.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { jsonLines, type Settings } from '../support/service.js';
import {
  type Account,
  addWebhook,
  installation,
  paymentEvents,
  publishEvents,
  register,
  tokenFor,
} from '../support/story.js';

const ACCOUNT = 42;
const PATIENCE = { timeout: 20_000 };
const REFUSED = { status: null, error: 'tls', reason: 'client-certificate-required' };
const CLIENT = 'webhooks.example';

describeBackbones((backbone) => {
  let receiver: Receiver;
  let settings: Settings;
  let remove: () => Promise<void>;
  let account: Account;

  beforeAll(async () => {
    const { cert: ca } = await testAuthority();
    receiver = await startReceiver({ tls: { requestCert: true, rejectUnauthorized: true, ca } });
    ({ settings, remove } = await installation([receiver], backbone));
    // The first delay is long: an attempt that failed without the certificate is made again with it.
    settings = { ...settings, RETRY_SCHEDULE: '1s,1s,1s,1s,1s,1s' };
    account = await register(settings, ACCOUNT);
  });

  afterAll(async () => {
    await receiver?.close();
    await remove?.();
  });

  async function withService(
    more: Settings,
    work: (service: ServiceHere, token: string) => Promise<void>,
  ): Promise<void> {
    const service = await serveHere({ ...settings, ...more });
    try {
      await work(service, await tokenFor(service.url, account));
    } finally {
      await service.stop();
    }
  }

  async function certificate(): Promise<Settings> {
    const { cert, key } = await certificateFor([CLIENT]);
    const file = (name: string, pem: string) => {
      const path = join(settings.DATA_DIR ?? '', '..', name);
      writeFileSync(path, pem);
      return path;
    };
    return { DELIVERY_CLIENT_CERT_FILE: file('c.pem', cert), DELIVERY_CLIENT_KEY_FILE: file('k.pem', key) };
  }

  async function testEvent({ url }: ServiceHere, token: string) {
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(`${url}/api/webhooks/1/test`, { method: 'POST', headers });
    return (await response.json()) as { success: boolean; message: string; result: object };
  }

  async function deliveries() {
    const { stdout } = await commandLine(settings, ['deliveries', 'list', '--account', String(ACCOUNT), '--json']);
    return jsonLines<DeliveryView>(stdout);
  }

  test('without a certificate a receiver that requires one gets nothing, and it is a TLS failure everywhere', async () => {
    await withService({}, async (service, token) => {
      const webhook = { url: `${receiver.url}/in`, eventType: 'cash_in' };
      expect(await addWebhook(service.url, token, webhook)).toBe(200);
      const message = 'the endpoint did not answer (tls). A client certificate is demanded.';
      expect(await testEvent(service, token)).toMatchObject({ success: false, message, result: REFUSED });
      await publishEvents(settings, paymentEvents(ACCOUNT, 1));
      const failed = () =>
        service
          .log()
          .split('\n')
          .find((line) => line.includes('an attempt failed'));
      expect(JSON.parse(await eventually(failed, PATIENCE))).toMatchObject({
        ...{ level: 40, why: 'tls', reason: REFUSED.reason, next: '1s' },
      });
      const [delivery] = await eventually(async () => {
        const listed = await deliveries();
        return listed.length > 0 && listed;
      }, PATIENCE);
      expect(delivery).toMatchObject({ outcome: 'retrying' });
      // By now there may be a second one.
      expect(delivery?.attempts.length).toBeGreaterThan(0);
      for (const attempt of delivery?.attempts ?? []) expect(attempt).toMatchObject(REFUSED);
    });
    expect(receiver.requests).toEqual([]);
  });

  test('with DELIVERY_CLIENT_CERT_FILE it gets what waited, and a test event', async () => {
    await withService(await certificate(), async (service, token) => {
      await eventually(() => receiver.requests.length > 0, PATIENCE);
      expect(await testEvent(service, token)).toMatchObject({ success: true, result: { status: 200 } });
      await eventually(async () => (await deliveries())[0]?.outcome === 'delivered', PATIENCE);
    });
    expect(receiver.requests.map(({ body }) => JSON.parse(String(body)).id)).toEqual([
      'evt-0',
      expect.stringMatching(/^test_/),
    ]);
  });
});
