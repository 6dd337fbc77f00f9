/** A forward proxy in the environment is ignored, and whoever set it learns what to allow instead. */
import { examined } from '../support/examined.js';
import { serveHere } from '../support/in-process-service.js';
import type { Settings } from '../support/service.js';
import { installation, register } from '../support/story.js';

let settings: Settings;
let remove: () => unknown = () => undefined;
beforeAll(async () => {
  ({ settings, remove } = await installation([]));
  await register(settings, 42);
});
afterAll(async () => {
  await remove();
});

test.each(['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY', 'https_proxy', 'http_proxy', 'all_proxy', 'NODE_USE_ENV_PROXY'])(
  'with %s doctor says in one line what is ignored and what to allow',
  async (name) => {
    const { results } = await examined({
      ...settings,
      [name]: 'http://planted:secret@proxy:3128',
      ALLOWED_PORTS: '443,9000-9001',
    });
    expect(results.filter(({ check }) => check === 'forward proxy')).toEqual([
      {
        check: 'forward proxy',
        verdict: 'warn',
        says: `deliveries use no forward proxy: ${name} is ignored`,
        todo: 'allow this machine, in the firewall, to connect to receivers (ports 443, 9000-9001)',
      },
    ]);
  },
);

test('the keys of an issuer and the collector are among what to allow', async () => {
  const { results } = await examined({
    ...settings,
    ...{ https_proxy: 'http://proxy:3128', AUTH_JWKS_URL: 'http://127.0.0.1:9/keys' },
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
  });
  const { todo } = results.find(({ check }) => check === 'forward proxy') ?? {};
  expect(todo).toMatch(/ receivers .*, and to AUTH_JWKS_URL, and to OTEL_EXPORTER_OTLP_ENDPOINT$/);
});

test('a start says it once, without the proxy; without one, neither says anything', async () => {
  const told = (log: string) => log.match(/deliveries use no forward proxy: HTTPS_PROXY is ignored; allow /g) ?? [];
  const service = await serveHere({ ...settings, HTTPS_PROXY: 'http://planted:secret@proxy:3128' });
  await service.stop();
  expect(told(service.log())).toHaveLength(1);
  expect(service.log()).not.toContain('planted');
  const direct = await serveHere({ ...settings, HTTPS_PROXY: '', NO_PROXY: '*' });
  await direct.stop();
  expect(direct.log()).not.toContain('forward proxy');
  expect((await examined(settings)).of('forward proxy')).toEqual([]);
});
