/** The settings of the contract, row by row. */
import type { Config } from '../../../src/settings/config.js';

/** One setting: its place in the Config, its default, what valid values become, and wrong values. */
interface Tried {
  readonly at: (config: Config) => unknown;
  readonly byDefault: unknown;
  readonly good: Readonly<Record<string, unknown>>;
  readonly wrong?: readonly string[];
}

export interface Setting extends Omit<Tried, 'good'> {
  readonly key: string;
  readonly good: readonly (readonly [value: string, becomes: unknown])[];
}

const KEY_BYTES = Buffer.from(Array.from({ length: 32 }, (_, index) => 250 - index));
/** 32 bytes in base64. */
export const KEY = KEY_BYTES.toString('base64');
const HOUR = 3_600_000;

const NO_DURATIONS = ['5', 's', '5 s', ' 5s', '5s ', '1.5s', '-5s', '+5s', '5S', '5d', '5sec', '05s', '1e3ms', '5s5m'];
const NO_PORTS = ['-1', '65536', '99999', '8080a', 'a', '80 80', ' 8080', '0x50', '1e3', '80.0', '+80', '8080,8081'];
const NO_COUNTS = ['0', '-1', '1.5', '1e3', 'many', ' 1', '01', '12345678', 'Infinity'];
const NO_KEYS = [
  ...['short', KEY.slice(0, -1), `${KEY}=`, ` ${KEY}`, `${KEY}\n`, KEY_BYTES.toString('base64url')],
  ...[KEY_BYTES.toString('hex'), KEY_BYTES.subarray(1).toString('base64'), Buffer.alloc(33).toString('base64')],
];

const ranges = (...pairs: readonly [number, number][]) => pairs.map(([from, to]) => ({ from, to }));
const delays = (...pairs: readonly [string, number][]) => pairs.map(([text, ms]) => ({ text, ms }));

const TABLE: Readonly<Record<string, Tried>> = {
  HOST: { at: ({ host }) => host, byDefault: '127.0.0.1', good: { '0.0.0.0': '0.0.0.0', '::1': '::1' } },
  PORT: { at: ({ port }) => port, byDefault: 8080, good: { '0': 0, '65535': 65_535 }, wrong: NO_PORTS },
  ADMIN_PORT: { at: ({ adminPort }) => adminPort, byDefault: 9090, good: { '1': 1 }, wrong: NO_PORTS },
  PUBLIC_URL: {
    at: ({ api }) => api.publicUrl,
    byDefault: null,
    good: {
      'https://webhooks.example.com': 'https://webhooks.example.com',
      'https://example.com:8443/webhooks/': 'https://example.com:8443/webhooks',
      'http://10.0.0.1:8080/': 'http://10.0.0.1:8080',
    },
    wrong: [
      ...['webhooks.example.com', '/webhooks', 'https://', 'ftp://example.com', 'javascript:alert(1)'],
      ...['https://user:password@example.com', 'https://user@example.com', 'https://example.com/webhooks?a=1'],
      ...['https://example.com/?', 'https://example.com/#a', 'https://exa mple.com'],
    ],
  },
  CONSOLE_FRAME_ANCESTORS: {
    at: ({ api }) => api.consoleFrameAncestors,
    byDefault: null,
    good: {
      'https://portal.example.com': ['https://portal.example.com'],
      'https://a.example.com:8443,http://localhost:3000': ['https://a.example.com:8443', 'http://localhost:3000'],
    },
    wrong: [
      ...[
        'portal.example.com',
        '*',
        "'self'",
        'https://*.example.com',
        'https://example.com/',
        'https://example.com/a',
      ],
      ...['https://a.example.com https://b.example.com', 'https://a;script-src', 'data:', ','],
    ],
  },
  DATA_DIR: { at: ({ dataDir }) => dataDir, byDefault: './data', good: { '/var/lib/a b': '/var/lib/a b' } },
  EVENT_STORE_URL: {
    at: ({ eventStoreUrl }) => eventStoreUrl,
    byDefault: null,
    good: { sqlite: null },
    wrong: ['SQLITE', 'sqlite:', 'postgres://localhost', 'memory', 'esdb://', 'http://localhost:2113'],
  },
  BROKER_URL: {
    at: ({ kafka }) => kafka,
    byDefault: null,
    good: { sqlite: null },
    wrong: [
      ...['sqlite ', 'amqp://localhost', 'kafka://', 'kafka://a', 'kafka://a:9092,', 'kafka://a:9092;b:9092'],
      ...['kafka://user:password@a:9092', 'kafka://a:9092/path', 'localhost:9092'],
    ],
  },
  MASTER_KEY: { at: ({ masterKey }) => masterKey, byDefault: null, good: { [KEY]: KEY_BYTES }, wrong: NO_KEYS },
  MASTER_KEY_PREVIOUS: {
    at: ({ masterKeyPrevious }) => masterKeyPrevious,
    byDefault: null,
    good: { [KEY]: KEY_BYTES },
    wrong: NO_KEYS,
  },
  TOKEN_LIFETIME: {
    at: ({ auth }) => auth.tokenLifetimeMs,
    byDefault: HOUR,
    good: { '1ms': 1, '90s': 90_000, '5m': 300_000, '24h': 24 * HOUR },
    wrong: [...NO_DURATIONS, '0s'],
  },
  AUTH_JWKS_URL: {
    at: ({ auth }) => auth.jwksUrl,
    byDefault: null,
    good: {
      'https://issuer.example.com/jwks': 'https://issuer.example.com/jwks',
      'http://127.0.0.1:8000/jwks': 'http://127.0.0.1:8000/jwks',
      'http://localhost:8000/jwks': 'http://localhost:8000/jwks',
      'http://[::1]:8000/jwks': 'http://[::1]:8000/jwks',
    },
    wrong: [
      ...['http://issuer.example.com/jwks', 'http://localhost.example.com/', 'http://127.0.0.1.example.com/'],
      ...['https://user:password@issuer.example.com/jwks', 'https://user@issuer.example.com/'],
      ...['http://10.0.0.1/', 'file:///etc/passwd', 'ftp://localhost/', 'issuer', '/jwks', 'https://', 'data:,{}'],
    ],
  },
  AUTH_ISSUER: { at: ({ auth }) => auth.issuer, byDefault: 'account-webhooks', good: { 'https://i': 'https://i' } },
  AUTH_AUDIENCE: { at: ({ auth }) => auth.audience, byDefault: 'account-webhooks', good: { 'a b': 'a b' } },
  AUTH_PUBLISHER_SCOPE: {
    at: ({ auth }) => auth.publisherScope,
    byDefault: 'payment-events:publish',
    good: { 'https://issuer.example/publish': 'https://issuer.example/publish' },
    wrong: ['two scopes', 'a"quote', 'back\\slash', 'ünicode'],
  },
  AUTH_ACCOUNT_CLAIM: { at: ({ auth }) => auth.accountClaim, byDefault: 'sub', good: { 'https://i/a': 'https://i/a' } },
  AUTH_CLOCK_TOLERANCE: {
    at: ({ auth }) => auth.clockToleranceMs,
    byDefault: 30_000,
    good: { '0': 0, '0s': 0, '2m': 120_000 },
    wrong: [...NO_DURATIONS, '00', '0 ', 'never'],
  },
  RATE_LIMIT_WRITES: {
    at: ({ api }) => api.writesPerMinute,
    byDefault: 20_000,
    good: { '0': 0, '1': 1, '9999999': 9_999_999 },
    wrong: NO_COUNTS.filter((value) => value !== '0'),
  },
  RATE_LIMIT_READS: {
    at: ({ api }) => api.readMsPerMinute,
    byDefault: 6_000,
    good: { '0': 0, '600': 600 },
    wrong: NO_COUNTS.filter((value) => value !== '0'),
  },
  RATE_LIMIT_TOKENS: {
    at: ({ api }) => api.tokensPerMinute,
    byDefault: 6_000,
    good: { '0': 0, '60': 60 },
    wrong: NO_COUNTS.filter((value) => value !== '0'),
  },
  HISTORY_BUDGET: {
    at: ({ api }) => api.historyBudget,
    byDefault: 20 * 1024 ** 2,
    good: { '0': null, '1MiB': 1024 ** 2, '2GiB': 2 * 1024 ** 3 },
    wrong: ['20', '20MB', '0MiB', '-1MiB', '1.5MiB', '20mib', 'none', '00'],
  },
  DELIVERIES_VIEW_SIZE: {
    at: ({ deliveriesViewSize }) => deliveriesViewSize,
    byDefault: 10 * 1024 ** 3,
    good: { '1MiB': 1024 ** 2, '2GiB': 2 * 1024 ** 3 },
    wrong: ['0', '20', '20MB', '0MiB', '-1MiB', '1.5MiB', 'none'],
  },
  MAX_CONNECTIONS: { at: ({ api }) => api.maxConnections, byDefault: 10_000, good: { '1': 1 }, wrong: NO_COUNTS },
  EVENT_SCHEMAS: { at: ({ eventSchemas }) => eventSchemas, byDefault: null, good: { schemas: 'schemas' } },
  PAYMENT_TOPICS: {
    at: ({ paymentTopics }) => paymentTopics,
    byDefault: ['payment-events'],
    good: { a: ['a'], 'a.B_c-1,pix': ['a.B_c-1', 'pix'] },
    wrong: [',', 'a,', ',a', 'a,,b', 'a, b', 'a b', 'ä', 'a/b', 'a'.repeat(201)],
  },
  TOPIC_PREFIX: {
    at: ({ topicPrefix }) => topicPrefix,
    byDefault: '',
    good: { 'blue.': 'blue.' },
    wrong: ['blue/', 'a b', 'ä', 'a,b'],
  },
  RETRY_SCHEDULE: {
    at: ({ retrySchedule }) => retrySchedule,
    byDefault: [
      ...delays(['5s', 5_000], ['5m', 300_000], ['30m', 1_800_000], ['2h', 2 * HOUR], ['5h', 5 * HOUR]),
      ...delays(['10h', 10 * HOUR], ['14h', 14 * HOUR], ['20h', 20 * HOUR], ['24h', 24 * HOUR]),
    ],
    good: { '1ms': delays(['1ms', 1]), '2s,2s,1m': delays(['2s', 2000], ['2s', 2000], ['1m', 60_000]) },
    wrong: [...NO_DURATIONS, ',', '5s,', ',5s', '5s,,5m', '5s, 5m', '5s;5m', '5s,x', '0s', '0ms', '5s,0h', '0s,5s'],
  },
  DELIVERY_TIMEOUT: {
    at: ({ delivery }) => delivery.timeoutMs,
    byDefault: 15_000,
    good: { '250ms': 250, '596h': 596 * HOUR },
    wrong: [...NO_DURATIONS, '0ms', '0h', '597h', '999999999h'],
  },
  DELIVERY_CONCURRENCY: {
    at: ({ delivery }) => delivery.concurrency,
    byDefault: 256,
    good: { '1': 1, '5000': 5000 },
    wrong: NO_COUNTS,
  },
  ENDPOINT_CONCURRENCY: {
    at: ({ delivery }) => delivery.endpointConcurrency,
    byDefault: 16,
    good: { '1': 1 },
    wrong: NO_COUNTS,
  },
  DEACTIVATE_AFTER: {
    at: ({ delivery }) => delivery.deactivateAfterMs,
    byDefault: 120 * HOUR,
    good: { '0': 0, '0s': 0, '90m': 90 * 60_000 },
    wrong: [...NO_DURATIONS, '00', '0 ', 'never'],
  },
  ALLOWED_PORTS: {
    at: ({ delivery }) => delivery.allowedPorts,
    byDefault: ranges([443, 443], [8443, 8443]),
    good: {
      '443': ranges([443, 443]),
      '443,8443,20000-20100': ranges([443, 443], [8443, 8443], [20_000, 20_100]),
      '1-65535': ranges([1, 65_535]),
      '7-7': ranges([7, 7]),
    },
    wrong: ['0', '65536', '0-10', '1-65536', '20100-20000', '443-', '-443', '443,', '443, 8443', 'https', '1-2-3', '*'],
  },
  DENIED_ADDRESSES: {
    at: ({ delivery }) => delivery.deniedAddresses && ['203.0.113.7', '2001:db8::7'].map(delivery.deniedAddresses.has),
    byDefault: null,
    good: {
      '203.0.113.0/24': [true, false],
      '203.0.113.0/24,2001:db8::/32': [true, true],
      '10.0.0.0/8': [false, false],
    },
    wrong: [
      ...['203.0.113.0/33', '203.0.113.0/-1', '203.0.113.0/', '203.0.113.0', '203.0.113/24', '203.0.113.0/024'],
      ...['2001:db8::/129', '2001:db8::/a', '2001:db8:/32', 'fe80::1%eth0/64', '[2001:db8::]/32', '::ffff:1.2.3.4/129'],
      ...['203.0.113.0/24,', ',', '203.0.113.0/24 ', '203.0.113.0/24, 10.0.0.0/8', 'shop.example.com', '0.0.0.0/0x8'],
      '203.0.113.0/255.255.255.0',
    ],
  },
  ALLOW_PRIVATE_ENDPOINTS: {
    at: ({ delivery }) => delivery.allowPrivateEndpoints,
    byDefault: false,
    good: { true: true, false: false },
    wrong: ['TRUE', 'yes', '1', '0', 'on', 'true ', 'truefalse'],
  },
  DELIVERY_CA_FILE: { at: ({ delivery }) => delivery.caFile, byDefault: null, good: { 'ca.pem': 'ca.pem' } },
  BROKER_RETENTION: {
    at: ({ brokerRetentionMs }) => brokerRetentionMs,
    byDefault: 168 * HOUR,
    good: { '0': null, '0h': null, '90m': 90 * 60_000 },
    wrong: [...NO_DURATIONS, '00', '0 ', 'never'],
  },
  KAFKA_GROUP: {
    at: ({ delivery }) => delivery.group,
    byDefault: 'account-webhooks',
    good: { 'blue.group_1': 'blue.group_1' },
    wrong: ['a b', 'a/b', '../a', 'ä', 'a'.repeat(201)],
  },
  LOG_LEVEL: {
    at: ({ logLevel }) => logLevel,
    byDefault: 'info',
    good: Object.fromEntries(
      ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'].map((level) => [level, level] as const),
    ),
    wrong: ['INFO', 'verbose', 'warning', '30', 'constructor'],
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    at: ({ tracesEndpoint }) => tracesEndpoint,
    byDefault: null,
    good: {
      'http://collector:4318': 'http://collector:4318/',
      'https://collector.example.com/otlp': 'https://collector.example.com/otlp',
    },
    wrong: [
      ...['collector:4318', 'grpc://collector:4317', '127.0.0.1:4318', '/v1/traces', 'http://', 'file:///etc/passwd'],
      ...['https://user:password@collector.example.com/', 'http://token@collector:4318'],
    ],
  },
};

export const SETTINGS: readonly Setting[] = Object.entries(TABLE).map(([key, { good, ...tried }]) => ({
  key,
  ...tried,
  good: Object.entries(good),
}));
