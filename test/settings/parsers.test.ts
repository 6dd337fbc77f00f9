import { LOG_LEVELS } from '../../src/observability/logger.js';
import * as parse from '../../src/settings/parsers.js';

const BYTES = Buffer.from(Array.from({ length: 32 }, (_, index) => 250 - index));
const KEY = BYTES.toString('base64');
const HOUR = 3_600_000;

const NO_DURATIONS = ['5', 's', '5 s', ' 5s', '5s ', '1.5s', '-5s', '+5s', '5S', '5d', '5sec', '05s', '1e3ms', '5s5m'];
const NO_COUNTS = ['-1', '1.5', '1e3', 'many', ' 1', '01', '12345678', 'Infinity'];
const NO_SIZES = ['20', '20MB', '0MiB', '-1MiB', '1.5MiB', '20mib', 'none', '00'];

interface Parsed {
  readonly parser: parse.Parser<unknown>;
  readonly good: Readonly<Record<string, unknown>>;
  readonly wrong: readonly string[];
}

const PARSERS: Readonly<Record<string, Parsed>> = {
  'a flag': {
    parser: parse.flag,
    good: { true: true, false: false },
    wrong: ['TRUE', 'yes', '1', '0', 'on', 'true ', 'truefalse'],
  },
  'one of some words': {
    parser: parse.oneOf(LOG_LEVELS),
    good: { silent: 'silent', trace: 'trace' },
    wrong: ['INFO', 'verbose', 'warning', '30', 'constructor'],
  },
  'a count': { parser: parse.whole, good: { '1': 1, '9999999': 9_999_999 }, wrong: ['0', ...NO_COUNTS] },
  'a count or off': { parser: parse.wholeOrOff, good: { '0': 0, '600': 600 }, wrong: NO_COUNTS },
  'a short count': { parser: parse.wholeTo99, good: { '1': 1, '99': 99 }, wrong: ['0', '100', ...NO_COUNTS] },
  'a duration': {
    parser: parse.positiveDuration,
    good: { '1ms': 1, '90s': 90_000, '5m': 300_000, '24h': 24 * HOUR },
    wrong: [...NO_DURATIONS, '0s', '0ms', '0h'],
  },
  'a duration or off': {
    parser: parse.durationOrOff,
    good: { '0': 0, '0s': 0, '2m': 120_000 },
    wrong: [...NO_DURATIONS, '00', '0 ', 'never'],
  },
  'what a timer takes': {
    parser: parse.timeout,
    good: { '250ms': 250, '596h': 596 * HOUR },
    wrong: [...NO_DURATIONS, '0ms', '597h', '999999999h'],
  },
  'a schedule': {
    parser: parse.schedule,
    good: { '1ms': [{ text: '1ms', ms: 1 }], '2s,2s': ['2s', '2s'].map((text) => ({ text, ms: 2_000 })) },
    wrong: [...NO_DURATIONS, ',', '5s,', ',5s', '5s,,5m', '5s, 5m', '5s;5m', '5s,x', '0s', '5s,0h'],
  },
  'a size': { parser: parse.size, good: { '1MiB': 1024 ** 2, '2GiB': 2 * 1024 ** 3 }, wrong: ['0', ...NO_SIZES] },
  'a size or off': { parser: parse.sizeOrOff, good: { '0': 0, '1MiB': 1024 ** 2 }, wrong: NO_SIZES },
  'a key': {
    parser: parse.key,
    good: { [KEY]: BYTES },
    wrong: [
      ...['short', KEY.slice(0, -1), `${KEY}=`, ` ${KEY}`, `${KEY}\n`, BYTES.toString('base64url')],
      ...[BYTES.toString('hex'), BYTES.subarray(1).toString('base64'), Buffer.alloc(33).toString('base64')],
    ],
  },
  topics: {
    parser: parse.topics,
    good: { a: ['a'], 'a.B_c-1,pix': ['a.B_c-1', 'pix'] },
    wrong: [',', 'a,', ',a', 'a,,b', 'a, b', 'a b', 'ä', 'a/b', 'a'.repeat(201)],
  },
  'a prefix': { parser: parse.prefix, good: { '': '', 'blue.': 'blue.' }, wrong: ['blue/', 'a b', 'ä', 'a,b'] },
  'a group': {
    parser: parse.group,
    good: { 'blue.group_1': 'blue.group_1' },
    wrong: ['a b', 'a/b', '../a', 'ä', 'a'.repeat(201)],
  },
  'a scope': {
    parser: parse.scopeToken,
    good: { 'https://issuer.example/publish': 'https://issuer.example/publish' },
    wrong: ['two scopes', 'a"quote', 'back\\slash', 'ünicode'],
  },
  'an event store': {
    parser: parse.eventStoreUrl,
    good: { sqlite: null, 'kurrent+discover://a': 'esdb+discover://a' },
    wrong: ['SQLITE', 'sqlite:', 'postgres://localhost', 'memory', 'esdb://', 'http://localhost:2113'],
  },
  'a broker': {
    parser: parse.brokerUrl,
    good: { sqlite: null, 'kafka://a:1,[::1]:2': ['a:1', '[::1]:2'] },
    wrong: [
      ...['sqlite ', 'amqp://localhost', 'kafka://', 'kafka://a', 'kafka://a:9092,', 'kafka://a:9092;b:9092'],
      ...['kafka://user:password@a:9092', 'kafka://a:9092/path', 'localhost:9092'],
    ],
  },
  'a public URL': {
    parser: parse.publicUrl,
    good: { 'https://a.example:8443/b/': 'https://a.example:8443/b', 'http://10.0.0.1:1/': 'http://10.0.0.1:1' },
    wrong: [
      ...['webhooks.example.com', '/webhooks', 'https://', 'ftp://example.com', 'javascript:alert(1)'],
      ...['https://user:password@example.com', 'https://user@example.com', 'https://example.com/webhooks?a=1'],
      ...['https://example.com/?', 'https://example.com/#a', 'https://exa mple.com'],
    ],
  },
  origins: {
    parser: parse.origins,
    good: { 'https://a.example:8443,http://localhost:3000': ['https://a.example:8443', 'http://localhost:3000'] },
    wrong: [
      ...['portal.example.com', '*', "'self'", 'https://*.example.com', 'https://example.com/', 'https://a.example/a'],
      ...['https://a.example.com https://b.example.com', 'https://a;script-src', 'data:', ','],
    ],
  },
  'a key set': {
    parser: parse.jwksUrl,
    good: { 'https://i.example/jwks': 'https://i.example/jwks', 'http://[::1]:8000/jwks': 'http://[::1]:8000/jwks' },
    wrong: [
      ...['http://issuer.example.com/jwks', 'http://localhost.example.com/', 'http://127.0.0.1.example.com/'],
      ...['https://user:password@issuer.example.com/jwks', 'https://user@issuer.example.com/'],
      ...['http://10.0.0.1/', 'file:///etc/passwd', 'ftp://localhost/', 'issuer', '/jwks', 'https://', 'data:,{}'],
    ],
  },
  'a collector': {
    parser: parse.collectorUrl,
    good: { 'http://collector:4318': 'http://collector:4318/', 'https://c.example/otlp': 'https://c.example/otlp' },
    wrong: [
      ...['collector:4318', 'grpc://collector:4317', '127.0.0.1:4318', '/v1/traces', 'http://', 'file:///etc/passwd'],
      ...['https://user:password@collector.example.com/', 'http://token@collector:4318'],
    ],
  },
  'a port': {
    parser: parse.port,
    good: { '0': 0, '65535': 65_535 },
    wrong: ['-1', '65536', '99999', '8080a', 'a', '80 80', ' 8080', '0x50', '1e3', '80.0', '+80', '8080,8081'],
  },
  ports: {
    parser: parse.portRanges,
    good: {
      '443,1-65535': [443, 1].map((from, nth) => ({ from, to: nth ? 65_535 : 443 })),
      '7-7': [{ from: 7, to: 7 }],
    },
    wrong: ['0', '65536', '0-10', '1-65536', '20100-20000', '443-', '-443', '443,', '443, 8443', 'https', '1-2-3', '*'],
  },
  networks: {
    parser: parse.addressRanges,
    good: { '203.0.113.0/24,2001:db8::/32': { has: expect.any(Function) } },
    wrong: [
      ...['203.0.113.0/33', '203.0.113.0/-1', '203.0.113.0/', '203.0.113.0', '203.0.113/24', '203.0.113.0/024'],
      ...['2001:db8::/129', '2001:db8::/a', '2001:db8:/32', 'fe80::1%eth0/64', '[2001:db8::]/32', '::ffff:1.2.3.4/129'],
      ...['203.0.113.0/24,', ',', '203.0.113.0/24 ', '203.0.113.0/24, 10.0.0.0/8', 'shop.example.com', '0.0.0.0/0x8'],
      '203.0.113.0/255.255.255.0',
    ],
  },
};

test.each(Object.entries(PARSERS))('%s is what it says, and nothing else', (_, { parser, good, wrong }) => {
  for (const [text, value] of Object.entries(good)) expect([text, parser.parse(text)]).toEqual([text, value]);
  expect(wrong.filter((text) => parser.parse(text) !== undefined)).toEqual([]);
});
