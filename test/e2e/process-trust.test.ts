/** DELIVERY_CA_FILE adds to what the process trusts already, by Node's own settings, for receivers, issuer and collector. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Service, type Settings, serve } from '../support/clients/service.js';
import { eventually } from '../support/clocks/eventually.js';
import { addWebhook, installation, listWebhooks, register } from '../support/scenes/story.js';
import { newAuthority } from '../support/servers/certificates.js';
import { type Collector, startCollector } from '../support/servers/collector.js';
import { type Issuer, startIssuer } from '../support/servers/issuer.js';
import { type Receiver, startReceiver } from '../support/servers/receiver.js';

const ACCOUNT = 42;
const ISSUER = { iss: 'account-webhooks', aud: 'account-webhooks', sub: String(ACCOUNT) };

let byFile: Receiver;
let byProcess: Receiver;
let issuer: Issuer;
let collector: Collector;
let settings: Settings;
let caFile: string;
let remove: () => Promise<void>;

beforeAll(async () => {
  const { authority, server } = await newAuthority();
  byFile = await startReceiver();
  byProcess = await startReceiver({ tls: server });
  issuer = await startIssuer({}, server);
  collector = await startCollector(() => 200, server);
  ({ settings, remove } = await installation([byFile, byProcess]));
  caFile = join(settings.DATA_DIR ?? '', '..', 'process-ca.pem');
  writeFileSync(caFile, authority.cert);
  await register(settings, ACCOUNT);
});

afterAll(async () => {
  for (const server of [byFile, byProcess, issuer, collector]) await server?.close();
  await remove?.();
});

const byOption = (option: string) => ({
  option,
  trusting: () => ({ NODE_OPTIONS: option, SSL_CERT_FILE: caFile }),
});
const trusts = [
  { option: 'NODE_EXTRA_CA_CERTS', trusting: () => ({ NODE_EXTRA_CA_CERTS: caFile }) },
  ...['--use-openssl-ca', '--use-system-ca'] // the latter since Node 22.15
    .filter((option) => process.allowedNodeEnvironmentFlags.has(option))
    .map(byOption),
];

test.each(trusts)('a CA that the process trusts by $option stays trusted', async ({ trusting }) => {
  const service = await serve({ ...settings, ...issuing(), ...tracing(), ...trusting() });
  const before = collector.requests.length;
  try {
    expect(await testEventTo(byFile, service)).toMatchObject({ success: true });
    expect(await testEventTo(byProcess, service)).toMatchObject({ success: true });
    await eventually(() => collector.requests.length > before);
  } finally {
    await service.stop('SIGTERM');
  }
});

const issuing = () => ({ AUTH_JWKS_URL: issuer.jwksUrl });
const tracing = () => ({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '10' });

async function testEventTo(receiver: Receiver, { url }: Service): Promise<unknown> {
  const now = Math.floor(Date.now() / 1000);
  const token = await issuer.sign({ ...ISSUER, iat: now, exp: now + 600 });
  const authorization = `Bearer ${token}`;
  expect(await addWebhook(url, token, { url: receiver.url, eventType: 'cash_in' })).toBe(200);
  const { webhooks } = await listWebhooks({ url }, token);
  const id = webhooks.find((webhook) => webhook.url === receiver.url)?.id;
  const response = await fetch(`${url}/api/webhooks/${id}/test`, { method: 'POST', headers: { authorization } });
  return response.json();
}
