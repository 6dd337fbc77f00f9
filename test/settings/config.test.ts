import { kafkaSettings } from '../../src/composition/backbone.js';
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
    ...{ HOST: '127.0.0.1', PORT: 8080, ADMIN_PORT: 9090, PUBLIC_URL: null, CONSOLE_FRAME_ANCESTORS: null },
    ...{ DATA_DIR: './data', EVENT_STORE_URL: null, BROKER_URL: null, MASTER_KEY: null, MASTER_KEY_PREVIOUS: null },
    ...{ BROKER_RETENTION: 168 * HOUR, DELIVERIES_VIEW_SIZE: 10 * 1024 ** 3, HISTORY_BUDGET: 20 * 1024 ** 2 },
    ...{ PAYMENT_TOPICS: ['payment-events'], TOPIC_PREFIX: '', EVENT_SCHEMAS: null, KAFKA_GROUP: 'account-webhooks' },
    ...{ TOKEN_LIFETIME: HOUR, AUTH_JWKS_URL: null, AUTH_ISSUER: 'account-webhooks' },
    ...{ AUTH_AUDIENCE: 'account-webhooks', AUTH_ACCOUNT_CLAIM: 'sub', AUTH_CLOCK_TOLERANCE: 30_000 },
    ...{ AUTH_PUBLISHER_SCOPE: 'payment-events:publish', MAX_CONNECTIONS: 10_000 },
    ...{ RATE_LIMIT_WRITES: 20_000, RATE_LIMIT_TOKENS: 6_000, RATE_LIMIT_READS: 6_000 },
    ...{ DELIVERY_TIMEOUT: 15_000, DELIVERY_CONCURRENCY: 256, ENDPOINT_CONCURRENCY: 16, DEACTIVATE_AFTER: 120 * HOUR },
    URGENT_EVENT_TYPES: ['med_created', 'med_accepted', 'med_rejected'],
    ...{ ALLOW_PRIVATE_ENDPOINTS: false, DENIED_ADDRESSES: null, DELIVERY_CA_FILE: null },
    ...{ DELIVERY_CLIENT_CERT_FILE: null, DELIVERY_CLIENT_KEY_FILE: null },
    ALLOWED_PORTS: [443, 8443].map((port) => ({ from: port, to: port })),
    RETRY_SCHEDULE: ['5s', '5m', '30m', '2h', '5h', '10h', '14h', '20h', '24h'].map((text) => ({
      text,
      ms: parseInt(text, 10) * { s: 1_000, m: 60_000, h: HOUR }[text.at(-1) as 's' | 'm' | 'h'],
    })),
    ...{ LOG_LEVEL: 'info', OTEL_EXPORTER_OTLP_ENDPOINT: null },
  });
});

it('takes those without a default', () => {
  const texts = {
    ...{ EVENT_SCHEMAS: 'schemas', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector/', PUBLIC_URL: 'https://a' },
    ...{ AUTH_JWKS_URL: 'https://c/', DELIVERY_CA_FILE: 'ca.pem', KAFKA_GROUP: 'blue' },
  };
  const keys = { MASTER_KEY: KEY, MASTER_KEY_PREVIOUS: OTHER_KEY };
  const DENIED_ADDRESSES = '203.0.113.0/24';
  const set = readConfig({ ...texts, ...keys, DENIED_ADDRESSES, CONSOLE_FRAME_ANCESTORS: 'https://b' });
  expect(set).toMatchObject({ ...texts, CONSOLE_FRAME_ANCESTORS: ['https://b'] });
  expect([set.MASTER_KEY, set.MASTER_KEY_PREVIOUS]).toEqual([KEY, OTHER_KEY].map((key) => Buffer.from(key, 'base64')));
  expect(set.DENIED_ADDRESSES?.has('203.0.113.7')).toBe(true);
});

it.each(SETTINGS.filter(({ parser }) => parser.parse(WRONG) === undefined))(
  '$key names itself where its value is wrong, and does not show the value',
  ({ key }) => {
    const message = refusalOf({ [key]: WRONG });
    expect(message.split(' ')[0]).toBe(key);
    expect(message).not.toContain(WRONG);
  },
);

it.each(['DELIVERY', 'KAFKA'])('the client certificate of %s needs both of its files', (of) => {
  const [cert, key] = [`${of}_CLIENT_CERT_FILE`, `${of}_CLIENT_KEY_FILE`];
  expect(refusalOf({ [cert]: 'cert.pem' }).startsWith(`${key} must be set where ${cert} is`)).toBe(true);
  expect(refusalOf({ [key]: 'key.pem' }).startsWith(`${cert} must be set where ${key} is`)).toBe(true);
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
  expect(readConfig({ PORT: '0', ADMIN_PORT: '0' })).toMatchObject({ PORT: 0, ADMIN_PORT: 0 });
  expect(readConfig({ PAYMENT_TOPICS: 'webhooks.deliveries', TOPIC_PREFIX: 'eu.' }).PAYMENT_TOPICS).toHaveLength(1);
});

describe('Kafka', () => {
  const minimal = { BROKER_URL: 'kafka://a:9092', MASTER_KEY: KEY };
  const kafkaOf = (more: Environment = {}) => {
    const config = readConfig({ ...minimal, ...more });
    return kafkaSettings(config, config.BROKER_URL ?? []);
  };
  /** The default of RETRY_SCHEDULE. */
  const longestDelay = 24 * HOUR;

  it('has its defaults', () => {
    const topics = { partitions: 12, replicationFactor: null, retentionMs: 168 * HOUR + longestDelay };
    const settings = kafkaOf();
    expect(settings).toMatchObject({ brokers: ['a:9092'], ...topics });
    expect(settings).not.toHaveProperty('ssl');
    expect(settings).not.toHaveProperty('sasl');
  });

  it('is taken as it is set', () => {
    const sasl = { KAFKA_SASL_MECHANISM: 'SCRAM-SHA-512', KAFKA_SASL_USERNAME: 'u', KAFKA_SASL_PASSWORD: 'p' };
    const topics = { KAFKA_PARTITIONS: '3', KAFKA_REPLICATION_FACTOR: '2', KAFKA_RETENTION: '24h' };
    const BROKER_URL = 'kafka://a.example:9092,127.0.0.1:9093,[::1]:9094';
    expect(kafkaOf({ BROKER_URL, ...sasl, ...topics, KAFKA_TLS: 'true' })).toMatchObject({
      brokers: ['a.example:9092', '127.0.0.1:9093', '[::1]:9094'],
      ssl: {},
      sasl: { mechanism: 'scram-sha-512', username: 'u', password: 'p' },
      partitions: 3,
      replicationFactor: 2,
      retentionMs: 24 * HOUR + longestDelay,
    });
  });

  it('is spoken to over TLS where a CA or a client certificate is set', () => {
    expect(() => kafkaOf({ KAFKA_CA_FILE: 'nowhere' })).toThrow(/^KAFKA_CA_FILE names a file/);
    const files = { KAFKA_CLIENT_CERT_FILE: 'nowhere', KAFKA_CLIENT_KEY_FILE: 'nowhere' };
    expect(() => kafkaOf(files)).toThrow(/^KAFKA_CLIENT_CERT_FILE names a file/);
  });

  it.each([
    ['KAFKA_PARTITIONS', { KAFKA_PARTITIONS: '0' }],
    ['KAFKA_PARTITIONS', { KAFKA_PARTITIONS: '257' }],
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
  it.each(['esdb://a:2113?tls=true', 'esdb://a:2113,b:2113?tls=false', 'esdb+discover://c.example'])(
    'is named by %s',
    (url) => {
      expect(readConfig({ EVENT_STORE_URL: url, MASTER_KEY: KEY }).EVENT_STORE_URL).toBe(url);
    },
  );

  it.each(['kurrentdb', 'kurrent', 'kurrentdb+discover', 'kurrent+discover'])('%s:// means esdb://', (scheme) => {
    const config = readConfig({ EVENT_STORE_URL: `${scheme}://kurrent:2113?tls=true`, MASTER_KEY: KEY });
    expect(config.EVENT_STORE_URL).toBe(`${scheme.replace(/^kurrent(db)?/, 'esdb')}://kurrent:2113?tls=true`);
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
  expect(readConfig(settings).KAFKA_GROUP).toBe(group);
});

it('what is not a setting is left alone, whatever its name', () => {
  expect(readConfig({ PATH: '/bin', NO_PROXY: '*', ['__proto__']: 'x', port: 'x' })).toEqual(readConfig({}));
});
