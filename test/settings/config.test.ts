import { InvalidConfig } from '../../src/settings/invalid-config.js';
import type { Environment } from '../../src/settings/read-config.js';
import { readConfig } from '../../src/settings/read-config.js';
import { SETTINGS } from '../../src/settings/table.js';

const HOUR = 3_600_000;
const [KEY, OTHER_KEY] = [1, 2].map((byte) => Buffer.alloc(32, byte).toString('base64')) as [string, string];
/** What no setting takes that is not any text. */
const WRONG = 'no/ such, value';

function refusalOf(environment: Environment): string {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof InvalidConfig) return error.message;
    throw error;
  }
  throw new Error('it was taken');
}

it('has the defaults of the contract for what is not set, or empty', () => {
  const empty = Object.fromEntries(SETTINGS.map(({ key }) => [key, '']));
  expect(readConfig(empty)).toEqual(readConfig({}));
  expect(readConfig({})).toMatchObject({
    ...{ host: '127.0.0.1', port: 8080, adminPort: 9090, dataDir: './data', eventStoreUrl: null, kafka: null },
    ...{ brokerRetentionMs: 168 * HOUR, deliveriesViewSize: 10 * 1024 ** 3, eventSchemas: null, tracesEndpoint: null },
    ...{ masterKey: null, masterKeyPrevious: null, paymentTopics: ['payment-events'], topicPrefix: '' },
    auth: {
      ...{ tokenLifetimeMs: HOUR, jwksUrl: null, issuer: 'account-webhooks', audience: 'account-webhooks' },
      ...{ accountClaim: 'sub', clockToleranceMs: 30_000, publisherScope: 'payment-events:publish' },
    },
    api: {
      ...{ publicUrl: null, consoleFrameAncestors: null, writesPerMinute: 20_000, tokensPerMinute: 6_000 },
      ...{ readMsPerMinute: 6_000, historyBudget: 20 * 1024 ** 2, maxConnections: 10_000 },
    },
    delivery: {
      ...{ timeoutMs: 15_000, concurrency: 256, endpointConcurrency: 16, deactivateAfterMs: 120 * HOUR },
      ...{ allowedPorts: [443, 8443].map((port) => ({ from: port, to: port })), allowPrivateEndpoints: false },
      ...{ deniedAddresses: null, caFile: null, group: 'account-webhooks' },
    },
    retrySchedule: ['5s', '5m', '30m', '2h', '5h', '10h', '14h', '20h', '24h'].map((text) => ({
      text,
      ms: parseInt(text, 10) * { s: 1_000, m: 60_000, h: HOUR }[text.at(-1) as 's' | 'm' | 'h'],
    })),
    logLevel: 'info',
  });
});

it('has those without a default in their places', () => {
  const set = readConfig({
    ...{
      MASTER_KEY: KEY,
      MASTER_KEY_PREVIOUS: OTHER_KEY,
      EVENT_SCHEMAS: 'schemas',
      DENIED_ADDRESSES: '203.0.113.0/24',
    },
    ...{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector/', PUBLIC_URL: 'https://a', AUTH_JWKS_URL: 'https://c/' },
    ...{ CONSOLE_FRAME_ANCESTORS: 'https://b', DELIVERY_CA_FILE: 'ca.pem', KAFKA_GROUP: 'blue' },
    ...{ HISTORY_BUDGET: '0', BROKER_RETENTION: '0' },
  });
  expect(set).toMatchObject({
    ...{ eventSchemas: 'schemas', tracesEndpoint: 'http://collector/', brokerRetentionMs: null },
    auth: { jwksUrl: 'https://c/' },
    api: { publicUrl: 'https://a', consoleFrameAncestors: ['https://b'], historyBudget: null },
    delivery: { caFile: 'ca.pem', group: 'blue' },
  });
  expect([set.masterKey, set.masterKeyPrevious]).toEqual([KEY, OTHER_KEY].map((key) => Buffer.from(key, 'base64')));
  expect(set.delivery.deniedAddresses?.has('203.0.113.7')).toBe(true);
});

it.each(SETTINGS.filter(({ parser }) => parser.parse(WRONG) === undefined))(
  '$key names itself where its value is wrong, and does not show the value',
  ({ key }) => {
    const message = refusalOf({ [key]: WRONG });
    expect(message.split(' ')[0]).toBe(key);
    expect(message).not.toContain(WRONG);
  },
);

describe.each([
  ['receivers', 'DELIVERY', (environment: Environment) => readConfig(environment).delivery],
  [
    'Kafka',
    'KAFKA',
    (environment: Environment) => readConfig({ BROKER_URL: 'kafka://a:9092', MASTER_KEY: KEY, ...environment }).kafka,
  ],
] as const)('the certificate shown to %s', (_, of, read) => {
  const [cert, key] = [`${of}_CLIENT_CERT_FILE`, `${of}_CLIENT_KEY_FILE`];
  const files = { [cert]: 'cert.pem', [key]: 'key.pem' };

  it('is none by default, and is its two files', () => {
    expect(read({})).toMatchObject({ clientCertFile: null, clientKeyFile: null });
    expect(read(files)).toMatchObject({ clientCertFile: 'cert.pem', clientKeyFile: 'key.pem' });
  });

  it('needs both', () => {
    expect(refusalOf({ ...files, [key]: '' }).startsWith(`${key} must be set where ${cert} is`)).toBe(true);
    expect(refusalOf({ ...files, [cert]: undefined }).startsWith(`${cert} must be set where ${key} is`)).toBe(true);
  });
});

it.each([
  ['payment-events,webhooks.dead-letter', ''],
  ['webhooks.retry.5s', ''],
  ['eu.webhooks.deliveries', 'eu.'],
])(
  'PAYMENT_TOPICS %s, with the prefix %j, has a topic of the service: its records would be payments',
  (topics, prefix) => {
    const refusal = refusalOf({ PAYMENT_TOPICS: topics, TOPIC_PREFIX: prefix });
    expect(refusal.startsWith('PAYMENT_TOPICS must not begin with TOPIC_PREFIX and `webhooks.`')).toBe(true);
  },
);

it('PORT and ADMIN_PORT are two, but any free ones', () => {
  expect(refusalOf({ PORT: '9090' }).startsWith('ADMIN_PORT must differ from PORT')).toBe(true);
  expect(readConfig({ PORT: '0', ADMIN_PORT: '0' })).toMatchObject({ port: 0, adminPort: 0 });
  expect(readConfig({ PAYMENT_TOPICS: 'webhooks.deliveries', TOPIC_PREFIX: 'eu.' }).paymentTopics).toHaveLength(1);
});

describe('Kafka', () => {
  const minimal = { BROKER_URL: 'kafka://a:9092', MASTER_KEY: KEY };
  const kafkaOf = (more: Environment = {}) => readConfig({ ...minimal, ...more }).kafka;

  it('has its defaults', () => {
    expect(kafkaOf()).toEqual({
      brokers: ['a:9092'],
      tls: false,
      caFile: null,
      clientCertFile: null,
      clientKeyFile: null,
      sasl: null,
      partitions: 12,
      replicationFactor: null,
      retentionMs: 168 * 3_600_000,
    });
  });

  it('is taken as it is set', () => {
    const sasl = { KAFKA_SASL_MECHANISM: 'SCRAM-SHA-512', KAFKA_SASL_USERNAME: 'u', KAFKA_SASL_PASSWORD: 'p' };
    const topics = { KAFKA_PARTITIONS: '3', KAFKA_REPLICATION_FACTOR: '2', KAFKA_RETENTION: '24h' };
    const BROKER_URL = 'kafka://a.example:9092,127.0.0.1:9093,[::1]:9094';
    expect(kafkaOf({ BROKER_URL, ...sasl, ...topics, KAFKA_TLS: 'true', KAFKA_CA_FILE: 'ca.pem' })).toEqual({
      brokers: ['a.example:9092', '127.0.0.1:9093', '[::1]:9094'],
      tls: true,
      caFile: 'ca.pem',
      clientCertFile: null,
      clientKeyFile: null,
      sasl: { mechanism: 'SCRAM-SHA-512', username: 'u', password: 'p' },
      partitions: 3,
      replicationFactor: 2,
      retentionMs: 86_400_000,
    });
  });

  it('is spoken to over TLS where a CA or a client certificate is set', () => {
    expect(kafkaOf({ KAFKA_CA_FILE: 'ca.pem' })?.tls).toBe(true);
    expect(kafkaOf({ KAFKA_CLIENT_CERT_FILE: 'c.pem', KAFKA_CLIENT_KEY_FILE: 'k.pem' })?.tls).toBe(true);
  });

  it.each([
    ['KAFKA_PARTITIONS', { KAFKA_PARTITIONS: '0' }],
    ['KAFKA_REPLICATION_FACTOR', { KAFKA_REPLICATION_FACTOR: '0' }],
    ['KAFKA_RETENTION', { KAFKA_RETENTION: '7d' }],
    ['KAFKA_RETENTION', { KAFKA_RETENTION: '0h' }],
    ['KAFKA_TLS', { KAFKA_TLS: 'yes' }],
    ['KAFKA_SASL_MECHANISM', { KAFKA_SASL_MECHANISM: 'GSSAPI' }],
    ['KAFKA_SASL_MECHANISM', { KAFKA_SASL_PASSWORD: 'hunter2' }],
    ['KAFKA_SASL_USERNAME', { KAFKA_SASL_MECHANISM: 'PLAIN', KAFKA_SASL_PASSWORD: 'hunter2' }],
    ['KAFKA_SASL_PASSWORD', { KAFKA_SASL_MECHANISM: 'PLAIN', KAFKA_SASL_USERNAME: 'u' }],
    ['MASTER_KEY', { MASTER_KEY: '' }],
  ])('a wrong %s names itself', (key, more) => {
    const message = refusalOf({ ...minimal, ...more });
    expect(message.split(' ')[0]).toBe(key);
    expect(message).not.toContain('hunter2');
  });
});

describe('EventStoreDB', () => {
  it.each(['esdb://a:2113?tls=true', 'esdb://a:2113,b:2113?tls=false', 'esdb+discover://c.example'])('%s', (url) => {
    expect(readConfig({ EVENT_STORE_URL: url, MASTER_KEY: KEY }).eventStoreUrl).toBe(url);
  });

  it.each(['kurrentdb', 'kurrent', 'kurrentdb+discover', 'kurrent+discover'])('%s:// means esdb://', (scheme) => {
    const { eventStoreUrl } = readConfig({ EVENT_STORE_URL: `${scheme}://kurrent:2113?tls=true`, MASTER_KEY: KEY });
    expect(eventStoreUrl).toBe(`${scheme.replace(/^kurrent(db)?/, 'esdb')}://kurrent:2113?tls=true`);
  });

  it('needs a master key, which its machines share', () => {
    expect(refusalOf({ EVENT_STORE_URL: 'esdb://a:2113' })).toMatch(/^MASTER_KEY /);
  });
});

it.each(['MASTER_KEY', 'MASTER_KEY_PREVIOUS', 'AUTH_JWKS_URL', 'EVENT_STORE_URL', 'BROKER_URL', 'PORT', 'LOG_LEVEL'])(
  'a secret that was put into %s by mistake is not shown',
  (key) => {
    for (const secret of ['esdb://admin:changeit@host', 'hunter2-hunter2', `${KEY}${KEY}`]) {
      const message = refusalOf({ [key]: secret });
      for (const part of [secret, 'changeit', 'hunter2', KEY]) expect(message).not.toContain(part);
    }
  },
);

it.each([
  [{ TOPIC_PREFIX: 'staging.' }, 'staging.account-webhooks'],
  [{ TOPIC_PREFIX: 'staging.', KAFKA_GROUP: 'account-webhooks' }, 'account-webhooks'],
])('with %j the group is %s: two installations on one payment topic each read all of it', (settings, group) => {
  expect(readConfig(settings).delivery.group).toBe(group);
});

it('what is not a setting is left alone, whatever its name', () => {
  expect(readConfig({ PATH: '/bin', NO_PROXY: '*', ['__proto__']: 'x', port: 'x' })).toEqual(readConfig({}));
});
