/**
 * The settings, and the only reader of process.env. Every value comes as text, is checked against the schema below,
 * and a wrong one stops the start with an InvalidConfig that names its key. An empty value counts as unset.
 */
import { Ajv, type ErrorObject } from 'ajv';
import { LOG_LEVELS, type LogLevel } from './observability/logger.js';
import { MASTER_KEY_BYTES } from './secrets/master-keys.js';

export interface Config {
  readonly host: string;
  readonly port: number;
  readonly adminPort: number;
  readonly dataDir: string;
  readonly eventStoreUrl: string;
  readonly brokerUrl: string;
  /** Null: on the embedded default it is made once in dataDir. */
  readonly masterKey: Buffer | null;
  readonly masterKeyPrevious: Buffer | null;
  readonly auth: AuthConfig;
  readonly paymentTopics: readonly [string, ...string[]];
  readonly topicPrefix: string;
  /** As written: a tier's topic bears the delay's text. */
  readonly retrySchedule: readonly Delay[];
  readonly delivery: DeliveryConfig;
  readonly logLevel: LogLevel;
}

export interface AuthConfig {
  readonly tokenLifetimeMs: number;
  /** Null: the service's own tokens. */
  readonly jwksUrl: string | null;
  readonly issuer: string;
  readonly audience: string;
  readonly accountClaim: string;
}

export interface DeliveryConfig {
  readonly timeoutMs: number;
  readonly concurrency: number;
  readonly endpointConcurrency: number;
  readonly allowedPorts: readonly PortRange[];
  readonly allowPrivateEndpoints: boolean;
  readonly caFile: string | null;
  readonly clientCertFile: string | null;
  readonly clientKeyFile: string | null;
  /** The name of this installation's consumer groups, on the embedded broker too. */
  readonly group: string;
}

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
const PORTS = '[0-9]{1,5}(-[0-9]{1,5})?';
const TOPIC = '[A-Za-z0-9._-]{1,200}';
/** What a timer of Node can wait (24 days): a longer one goes off at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

const text = (defaultValue: string, pattern = '', expected = 'text') => ({
  type: 'string',
  default: defaultValue,
  ...(pattern && { pattern: `^(${pattern})$` }),
  expected,
});
const list = (item: string) => `${item}(,${item})*`;
const duration = (defaultValue: string) => text(defaultValue, DURATION, 'a whole number and ms, s, m or h, like 15s');
const whole = (defaultValue: string) => text(defaultValue, '[1-9][0-9]{0,6}', 'a whole number from 1 on');
const port = (defaultValue: string) => text(defaultValue, '[0-9]{1,5}', 'a port from 0 to 65535');
const flag = (defaultValue: string) => text(defaultValue, 'true|false', 'true or false');

/** Section by section as the README lists them; `expected` is what the message says of a wrong value. */
const SETTINGS = {
  HOST: text('127.0.0.1'),
  PORT: port('8080'),
  ADMIN_PORT: port('9090'),
  DATA_DIR: text('./data'),
  EVENT_STORE_URL: text('sqlite', 'sqlite', 'sqlite (esdb:// comes with the next release)'),
  BROKER_URL: text('sqlite', 'sqlite', 'sqlite (kafka:// comes with the next release)'),
  MASTER_KEY: text('', '|[A-Za-z0-9+/]{43}=', `${MASTER_KEY_BYTES} bytes in base64`),
  MASTER_KEY_PREVIOUS: text('', '|[A-Za-z0-9+/]{43}=', `${MASTER_KEY_BYTES} bytes in base64`),
  TOKEN_LIFETIME: duration('1h'),
  AUTH_JWKS_URL: text(''),
  AUTH_ISSUER: text('account-webhooks'),
  AUTH_AUDIENCE: text('account-webhooks'),
  AUTH_ACCOUNT_CLAIM: text('sub'),
  PAYMENT_TOPICS: text('payment-events', list(TOPIC), 'topic names of A-Z a-z 0-9 . _ - with commas between'),
  TOPIC_PREFIX: text('', `|${TOPIC}`, 'a prefix of A-Z a-z 0-9 . _ -'),
  RETRY_SCHEDULE: text('5s,5m,30m,2h,5h,10h,14h,20h,24h', list(DURATION), 'delays like 5s,5m,2h'),
  DELIVERY_TIMEOUT: duration('15s'),
  DELIVERY_CONCURRENCY: whole('256'),
  ENDPOINT_CONCURRENCY: whole('16'),
  ALLOWED_PORTS: text('443,8443', list(PORTS), 'ports and ranges like 443,8443,20000-20100'),
  ALLOW_PRIVATE_ENDPOINTS: flag('false'),
  DELIVERY_CA_FILE: text(''),
  DELIVERY_CLIENT_CERT_FILE: text(''),
  DELIVERY_CLIENT_KEY_FILE: text(''),
  KAFKA_GROUP: text('account-webhooks', TOPIC, 'a group name of A-Z a-z 0-9 . _ -'),
  LOG_LEVEL: text('info', LOG_LEVELS.join('|'), LOG_LEVELS.join(', ')),
} as const;

type Key = keyof typeof SETTINGS;
type Settings = Record<Key, string>;

const ajv = new Ajv({ useDefaults: true, keywords: ['expected'], verbose: true });
const validate = ajv.compile<Settings>({ type: 'object', properties: SETTINGS });

/** @throws InvalidConfig */
export function readConfig(environment: Environment = process.env): Config {
  const keys = Object.keys(SETTINGS) as Key[];
  const settings: Partial<Settings> = Object.fromEntries(
    keys.flatMap((key) => (environment[key] ? [[key, environment[key]]] : [])),
  );
  if (!validate(settings)) throw wrongValue(validate.errors?.[0]);
  return {
    host: settings.HOST,
    port: portOf('PORT', settings),
    adminPort: portOf('ADMIN_PORT', settings),
    dataDir: settings.DATA_DIR,
    eventStoreUrl: settings.EVENT_STORE_URL,
    brokerUrl: settings.BROKER_URL,
    masterKey: keyOf(settings.MASTER_KEY),
    masterKeyPrevious: keyOf(settings.MASTER_KEY_PREVIOUS),
    auth: authOf(settings),
    paymentTopics: listOf(settings.PAYMENT_TOPICS),
    topicPrefix: settings.TOPIC_PREFIX,
    retrySchedule: listOf(settings.RETRY_SCHEDULE).map((delay) => ({ text: delay, ms: milliseconds(delay) })),
    delivery: deliveryOf(settings),
    logLevel: settings.LOG_LEVEL as LogLevel,
  };
}

function authOf(settings: Settings): AuthConfig {
  return {
    tokenLifetimeMs: positive('TOKEN_LIFETIME', settings),
    jwksUrl: jwksUrlOf(settings.AUTH_JWKS_URL),
    issuer: settings.AUTH_ISSUER,
    audience: settings.AUTH_AUDIENCE,
    accountClaim: settings.AUTH_ACCOUNT_CLAIM,
  };
}

function deliveryOf(settings: Settings): DeliveryConfig {
  const { DELIVERY_CLIENT_CERT_FILE: cert, DELIVERY_CLIENT_KEY_FILE: key } = settings;
  if (cert && !key) throw invalid('DELIVERY_CLIENT_KEY_FILE', 'must be set where DELIVERY_CLIENT_CERT_FILE is');
  if (key && !cert) throw invalid('DELIVERY_CLIENT_CERT_FILE', 'must be set where DELIVERY_CLIENT_KEY_FILE is');
  return {
    timeoutMs: timerMs('DELIVERY_TIMEOUT', settings),
    concurrency: Number(settings.DELIVERY_CONCURRENCY),
    endpointConcurrency: Number(settings.ENDPOINT_CONCURRENCY),
    allowedPorts: listOf(settings.ALLOWED_PORTS).map(portRange),
    allowPrivateEndpoints: settings.ALLOW_PRIVATE_ENDPOINTS === 'true',
    caFile: settings.DELIVERY_CA_FILE || null,
    clientCertFile: cert || null,
    clientKeyFile: key || null,
    group: settings.KAFKA_GROUP,
  };
}

function wrongValue(error: ErrorObject | undefined): InvalidConfig {
  const parent = error?.parentSchema as { expected?: string } | undefined;
  return invalid(error?.instancePath.slice(1) ?? 'settings', `must be ${parent?.expected ?? 'another value'}`);
}

/** The value itself is not shown: it may be a secret in the wrong place. */
function invalid(key: string, message: string): InvalidConfig {
  return new InvalidConfig(`${key} ${message}`);
}

function keyOf(base64: string): Buffer | null {
  return base64 ? Buffer.from(base64, 'base64') : null;
}

function listOf(value: string): readonly [string, ...string[]] {
  const [first = '', ...rest] = value.split(',');
  return [first, ...rest];
}

function milliseconds(value: string): number {
  const [, count = '', unit = ''] = new RegExp(`^${DURATION}$`).exec(value) ?? [];
  return Number(count) * (UNIT_MS[unit] ?? Number.NaN);
}

function positive(key: Key, settings: Settings): number {
  const ms = milliseconds(settings[key]);
  if (ms > 0) return ms;
  throw invalid(key, 'must be more than 0');
}

function timerMs(key: Key, settings: Settings): number {
  const ms = positive(key, settings);
  if (ms <= LONGEST_TIMER_MS) return ms;
  throw invalid(key, 'must be at most 596h');
}

function portOf(key: Key, settings: Settings): number {
  return checkedPort(key, Number(settings[key]), 0);
}

function portRange(range: string): PortRange {
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

/** Keys over plain http could be swapped on the way; only this machine's own issuer may be asked so. */
function jwksUrlOf(value: string): string | null {
  if (!value) return null;
  const url = URL.canParse(value) ? new URL(value) : null;
  const loopback = url && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && loopback)) return url.href;
  throw invalid('AUTH_JWKS_URL', 'must be an https URL (http only to this machine)');
}
