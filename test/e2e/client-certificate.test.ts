import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DeliveryView } from '../../src/delivery/log/delivery-log.js';
import type { Settings } from '../support/clients/service.js';
import { eventually } from '../support/clocks/eventually.js';
import { Served } from '../support/scenes/served.js';
import { paymentEvents } from '../support/scenes/story.js';
import { certificateFor, testAuthority } from '../support/servers/certificates.js';

const PATIENCE = { timeout: 20_000 };
const REFUSED = { status: null, error: 'tls', reason: 'client-certificate-required' };

const served = Served.around({
  tls: { requestCert: true, rejectUnauthorized: true, ca: (await testAuthority()).cert },
  // The first delay is long: an attempt that failed without the certificate is made again with it.
  settings: { RETRY_SCHEDULE: '1s,1s,1s,1s,1s,1s' },
});

async function certificate(): Promise<Settings> {
  const { cert, key } = await certificateFor(['webhooks.example']);
  const file = (name: string, pem: string) => {
    const path = join(served.settings.DATA_DIR ?? '', '..', name);
    writeFileSync(path, pem);
    return path;
  };
  return { DELIVERY_CLIENT_CERT_FILE: file('c.pem', cert), DELIVERY_CLIENT_KEY_FILE: file('k.pem', key) };
}

const testEvent = () => served.call('POST', '/api/webhooks/1/test');
const deliveries = () => served.lines<DeliveryView>('deliveries', 'list', '--account', '42');

test('without a certificate a receiver that requires one gets nothing, and it is a TLS failure everywhere', async () => {
  expect(await served.addWebhook('/in')).toBe(200);
  const message = 'the endpoint did not answer (tls). A client certificate is demanded.';
  expect(await testEvent()).toMatchObject({ success: false, message, result: REFUSED });
  await served.publish(paymentEvents(42, 1));
  const lines = () => served.service.log().split('\n');
  const failed = await eventually(() => lines().find((line) => line.includes('an attempt failed')), PATIENCE);
  expect(JSON.parse(failed)).toMatchObject({ level: 40, error: 'tls', reason: REFUSED.reason, next: '1s' });
  const [delivery] = await eventually(async () => {
    const listed = await deliveries();
    return listed.length > 0 && listed;
  }, PATIENCE);
  expect(delivery).toMatchObject({ outcome: 'retrying' });
  // By now there may be a second one.
  expect(delivery?.attempts.length).toBeGreaterThan(0);
  for (const attempt of delivery?.attempts ?? []) expect(attempt).toMatchObject(REFUSED);
  expect(served.receiver.requests).toEqual([]);
});

test('with DELIVERY_CLIENT_CERT_FILE it gets what waited, and a test event', async () => {
  await served.restart(await certificate());
  await eventually(() => served.receiver.requests.length > 0, PATIENCE);
  expect(await testEvent()).toMatchObject({ success: true, result: { status: 200 } });
  await eventually(async () => (await deliveries())[0]?.outcome === 'delivered', PATIENCE);
  const ids = served.receiver.requests.map(({ body }) => JSON.parse(String(body)).id);
  expect(ids).toEqual(['evt-0', expect.stringMatching(/^test_/)]);
});
