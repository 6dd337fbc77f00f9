/**
 * The settings as they come from the environment: text, held against the table below. `expected` is what the message
 * says of a wrong value; the value itself is not shown, it may be a secret in the wrong place. An empty value counts as
 * unset.
 */
import { Ajv, type ErrorObject } from 'ajv';
import { LOG_LEVELS } from './observability/logger.js';
import { OWN_SCHEMAS } from './own-schemas.js';
import { MASTER_KEY_BYTES } from './secrets/master-keys.js';

export interface PortRange {
  readonly from: number;
  readonly to: number;
}

export interface Delay {
  readonly text: string;
  readonly ms: number;
}

export class InvalidConfig extends Error {
  override readonly name = 'InvalidConfig';
  readonly code = 'INVALID_CONFIG';
}

export type Environment = Readonly<Record<string, string | undefined>>;

const DURATION = '(0|[1-9][0-9]{0,8})(ms|s|m|h)';
const SIZE = '([1-9][0-9]{0,6})(MiB|GiB)';
const PORTS = '[0-9]{1,5}(-[0-9]{1,5})?';
const BROKER = '[A-Za-z0-9.-]+:[0-9]{1,5}|\\[[0-9A-Fa-f:]+\\]:[0-9]{1,5}';
const SASL = ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'] as const;
const TOPIC = '[A-Za-z0-9._-]{1,200}';
/** What a timer of Node can wait (24 days): a longer one goes off at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
const UNIT_BYTES: Readonly<Record<string, number>> = { MiB: 1024 ** 2, GiB: 1024 ** 3 };
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

const text = (defaultValue: string, pattern = '', expected = 'text') => ({
  type: 'string',
  default: defaultValue,
  ...(pattern && { pattern: `^(${pattern})$` }),
  expected,
});
const list = (item: string) => `(${item})(,(${item}))*`;
const duration = (defaultValue: string) => text(defaultValue, DURATION, 'a whole number and ms, s, m or h, like 15s');
const wholeOrOff = (defaultValue: string) => text(defaultValue, '0|[1-9][0-9]{0,6}', 'a whole number from 0 (off) on');
const whole = (defaultValue: string) => text(defaultValue, '[1-9][0-9]{0,6}', 'a whole number from 1 on');
const port = (defaultValue: string) => text(defaultValue, '[0-9]{1,5}', 'a port from 0 to 65535');
const flag = (defaultValue: string) => text(defaultValue, 'true|false', 'true or false');

/** Section by section as the README lists them; `expected` is what the message says of a wrong value. */
const SETTINGS = {
  HOST: text('127.0.0.1'),
  PORT: port('8080'),
  ADMIN_PORT: port('9090'),
  PUBLIC_URL: text(''),
  DATA_DIR: text('./data'),
  EVENT_STORE_URL: text(
    'sqlite',
    'sqlite|esdb([+]discover)?://.+',
    'sqlite, or a connection string like esdb://host:2113?tls=true',
  ),
  BROKER_URL: text('sqlite', `sqlite|kafka://${list(BROKER)}`, 'sqlite, or kafka://host:9092,host:9092'),
  MASTER_KEY: text('', '|[A-Za-z0-9+/]{43}=', `${MASTER_KEY_BYTES} bytes in base64`),
  MASTER_KEY_PREVIOUS: text('', '|[A-Za-z0-9+/]{43}=', `${MASTER_KEY_BYTES} bytes in base64`),
  TOKEN_LIFETIME: duration('1h'),
  AUTH_JWKS_URL: text(''),
  AUTH_ISSUER: text('account-webhooks'),
  AUTH_AUDIENCE: text('account-webhooks'),
  AUTH_ACCOUNT_CLAIM: text('sub'),
  RATE_LIMIT_WRITES: wholeOrOff('20000'),
  RATE_LIMIT_TOKENS: wholeOrOff('6000'),
  HISTORY_BUDGET: text('20MiB', `0|${SIZE}`, 'a whole number and MiB or GiB, like 20MiB, or 0'),
  MAX_CONNECTIONS: whole('10000'),
  PAYMENT_TOPICS: text('payment-events', list(TOPIC), 'topic names of A-Z a-z 0-9 . _ - with commas between'),
  TOPIC_PREFIX: text('', `|${TOPIC}`, 'a prefix of A-Z a-z 0-9 . _ -'),
  RETRY_SCHEDULE: text('5s,5m,30m,2h,5h,10h,14h,20h,24h', list(DURATION), 'delays like 5s,5m,2h'),
  DELIVERY_TIMEOUT: duration('15s'),
  DELIVERY_CONCURRENCY: whole('256'),
  ENDPOINT_CONCURRENCY: whole('16'),
  DEACTIVATE_AFTER: text('120h', `0|${DURATION}`, 'a whole number and ms, s, m or h, like 120h, or 0'),
  ALLOWED_PORTS: text('443,8443', list(PORTS), 'ports and ranges like 443,8443,20000-20100'),
  ALLOW_PRIVATE_ENDPOINTS: flag('false'),
  DELIVERY_CA_FILE: text(''),
  DELIVERY_CLIENT_CERT_FILE: text(''),
  DELIVERY_CLIENT_KEY_FILE: text(''),
  BROKER_RETENTION: text('168h', `0|${DURATION}`, 'a whole number and ms, s, m or h, like 168h, or 0'),
  BROKER_RETENTION_SIZE: text('0', `0|${SIZE}`, 'a whole number and MiB or GiB, like 10GiB, or 0'),
  KAFKA_GROUP: text('account-webhooks', TOPIC, 'a group name of A-Z a-z 0-9 . _ -'),
  KAFKA_PARTITIONS: whole('12'),
  KAFKA_REPLICATION_FACTOR: text('', '|[1-9][0-9]?', 'a whole number from 1 on'),
  KAFKA_RETENTION: duration('168h'),
  KAFKA_TLS: flag('false'),
  KAFKA_CA_FILE: text(''),
  KAFKA_SASL_MECHANISM: text('', `|${SASL.join('|')}`, SASL.join(', ')),
  KAFKA_SASL_USERNAME: text(''),
  KAFKA_SASL_PASSWORD: text(''),
  LOG_LEVEL: text('info', LOG_LEVELS.join('|'), LOG_LEVELS.join(', ')),
  OTEL_EXPORTER_OTLP_ENDPOINT: text(''),
  OTEL_SERVICE_NAME: text('account-webhooks'),
} as const;

export type Key = keyof typeof SETTINGS;
export type Settings = Readonly<Record<Key, string>>;

/** What is generated runs once: to optimize it took 15 ms of the 38 of compiling. */
const code = { optimize: false } as const;
const ajv = new Ajv({ ...OWN_SCHEMAS, code, useDefaults: true, keywords: ['expected'], verbose: true });
const validate = ajv.compile<Settings>({ type: 'object', properties: SETTINGS });

/** @throws InvalidConfig */
export function readSettings(environment: Environment): Settings {
  const keys = Object.keys(SETTINGS) as Key[];
  const settings: Partial<Record<Key, string>> = Object.fromEntries(
    keys.flatMap((key) => (environment[key] ? [[key, environment[key]]] : [])),
  );
  if (!validate(settings)) throw wrongValue(validate.errors?.[0]);
  return settings;
}

function wrongValue(error: ErrorObject | undefined): InvalidConfig {
  const parent = error?.parentSchema as { expected?: string } | undefined;
  return invalid(error?.instancePath.slice(1) ?? 'settings', `must be ${parent?.expected ?? 'another value'}`);
}

/** The value itself is not shown: it may be a secret in the wrong place. */
export function invalid(key: string, message: string): InvalidConfig {
  return new InvalidConfig(`${key} ${message}`);
}

export function keyOf(base64: string): Buffer | null {
  return base64 ? Buffer.from(base64, 'base64') : null;
}

export function listOf(value: string): readonly [string, ...string[]] {
  const [first = '', ...rest] = value.split(',');
  return [first, ...rest];
}

export function milliseconds(value: string): number {
  const [, count = '', unit = ''] = new RegExp(`^${DURATION}$`).exec(value) ?? [];
  return Number(count) * (UNIT_MS[unit] ?? Number.NaN);
}

/** Null where it is off. */
export function bytesOf(value: string): number | null {
  const [, count = '', unit = ''] = new RegExp(`^${SIZE}$`).exec(value) ?? [];
  return value === '0' ? null : Number(count) * (UNIT_BYTES[unit] ?? Number.NaN);
}

export function positive(key: Key, settings: Settings): number {
  const ms = milliseconds(settings[key]);
  if (ms > 0) return ms;
  throw invalid(key, 'must be more than 0');
}

export function timerMs(key: Key, settings: Settings): number {
  const ms = positive(key, settings);
  if (ms <= LONGEST_TIMER_MS) return ms;
  throw invalid(key, 'must be at most 596h');
}

export function portOf(key: Key, settings: Settings): number {
  return checkedPort(key, Number(settings[key]), 0);
}

export function portRange(range: string): PortRange {
  const [from = '', to = from] = range.split('-');
  const ports = {
    from: checkedPort('ALLOWED_PORTS', Number(from), 1),
    to: checkedPort('ALLOWED_PORTS', Number(to), 1),
  };
  if (ports.from > ports.to) throw invalid('ALLOWED_PORTS', 'has a range that ends before it begins');
  return ports;
}

function checkedPort(key: Key, value: number, lowest: number): number {
  if (value >= lowest && value <= 65_535) return value;
  throw invalid(key, `must be a port from ${lowest} to 65535`);
}
