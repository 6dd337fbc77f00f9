/** A forward proxy is ignored, and whoever set it learns what to allow instead. */
import { ignoredProxy, readConfig } from '../../src/settings/read-config.js';

const PROXY = 'http://proxy:3128';

test.each(['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY', 'https_proxy', 'http_proxy', 'all_proxy', 'NODE_USE_ENV_PROXY'])(
  '%s is ignored',
  (name) => {
    expect(ignoredProxy(readConfig({ [name]: PROXY }))?.says).toBe(
      `deliveries use no forward proxy: ${name} is ignored`,
    );
  },
);

test('the keys of an issuer and the collector are among what to allow', () => {
  const others = { AUTH_JWKS_URL: 'http://127.0.0.1:9/keys', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' };
  expect(ignoredProxy(readConfig({ HTTPS_PROXY: PROXY, ...others }))?.todo).toMatch(
    / receivers .*, and to AUTH_JWKS_URL, and to OTEL_EXPORTER_OTLP_ENDPOINT$/,
  );
});

test.each([{}, { HTTPS_PROXY: '' }, { NO_PROXY: '*' }])('nothing is said of %j', (environment) => {
  expect(ignoredProxy(readConfig(environment))).toBeNull();
});
