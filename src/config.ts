/**
 * The one typed object that the settings become, and the only reader of process.env. A wrong value stops the start with
 * an InvalidConfig that names its key.
 */
import { parseUrl } from './endpoints/parse-url.js';
import type { LogLevel } from './observability/logger.js';
import {
  bytesOf,
  type Delay,
  type Environment,
  InvalidConfig,
  invalid,
  keyOf,
  listOf,
  milliseconds,
  type PortRange,
  portOf,
  portRange,
  positive,
  readSettings,
  type Settings,
  timerMs,
} from './settings.js';

export interface Config {
  readonly host: string;
  readonly port: number;
  readonly adminPort: number;
  readonly dataDir: string;
  /** Null: the embedded one. */
  readonly eventStoreUrl: string | null;
  /** Null: the embedded broker. */
  readonly kafka: KafkaConfig | null;
  /** Of the embedded broker. */
  readonly retention: RetentionConfig;
  /** Null: on the embedded default it is made once in dataDir. */
  readonly masterKey: Buffer | null;
  readonly masterKeyPrevious: Buffer | null;
  readonly auth: AuthConfig;
  readonly api: ApiConfig;
  readonly paymentTopics: readonly [string, ...string[]];
  readonly topicPrefix: string;
  /** As written: a tier's topic bears the delay's text. */
  readonly retrySchedule: readonly [Delay, ...Delay[]];
  readonly delivery: DeliveryConfig;
  readonly logLevel: LogLevel;
  readonly tracing: TracingConfig;
}

export interface TracingConfig {
  /** Of an OTLP collector; null: no spans are made. */
  readonly endpoint: string | null;
  readonly serviceName: string;
}

export interface AuthConfig {
  readonly tokenLifetimeMs: number;
  /** Null: the service's own tokens. */
  readonly jwksUrl: string | null;
  readonly issuer: string;
  readonly audience: string;
  readonly accountClaim: string;
}

export interface ApiConfig {
  /** Where clients reach it, without a slash at the end; null: not said. */
  readonly publicUrl: string | null;
  /** Requests a minute and account; 0: no limit. */
  readonly writesPerMinute: number;
  readonly tokensPerMinute: number;
  /** Bytes that an account may add to its history at once; null: no limit. */
  readonly historyBudget: number | null;
  readonly maxConnections: number;
}

export interface KafkaConfig {
  /** host:port */
  readonly brokers: readonly [string, ...string[]];
  readonly tls: boolean;
  readonly caFile: string | null;
  readonly sasl: SaslConfig | null;
  readonly partitions: number;
  /** Null: the broker's default. */
  readonly replicationFactor: number | null;
  readonly retentionMs: number;
}

export interface RetentionConfig {
  /** How long a record is kept that is done; null is for ever. */
  readonly keptMs: number | null;
  /** Of store.sqlite in use, before such records go earlier; null is any size. */
  readonly mostBytes: number | null;
}

export interface SaslConfig {
  readonly mechanism: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512';
  readonly username: string;
  readonly password: string;
}

export interface DeliveryConfig {
  readonly timeoutMs: number;
  readonly concurrency: number;
  readonly endpointConcurrency: number;
  /** How long an endpoint may fail before its webhooks are deactivated; 0: for ever. */
  readonly deactivateAfterMs: number;
  readonly allowedPorts: readonly PortRange[];
  readonly allowPrivateEndpoints: boolean;
  readonly caFile: string | null;
  readonly clientCertFile: string | null;
  readonly clientKeyFile: string | null;
  /** The name of this installation's consumer groups, on the embedded broker too. */
  readonly group: string;
}

/** @throws InvalidConfig */
export function readConfig(environment: Environment = process.env): Config {
  const settings = readSettings(environment);
  return {
    host: settings.HOST,
    port: portOf('PORT', settings),
    adminPort: portOf('ADMIN_PORT', settings),
    dataDir: settings.DATA_DIR,
    eventStoreUrl: settings.EVENT_STORE_URL === 'sqlite' ? null : settings.EVENT_STORE_URL,
    kafka: settings.BROKER_URL === 'sqlite' ? null : kafkaOf(settings),
    retention: retentionOf(settings),
    masterKey: masterKeyOf(settings),
    masterKeyPrevious: keyOf(settings.MASTER_KEY_PREVIOUS),
    auth: authOf(settings),
    api: {
      publicUrl: publicUrlOf(settings.PUBLIC_URL),
      writesPerMinute: Number(settings.RATE_LIMIT_WRITES),
      tokensPerMinute: Number(settings.RATE_LIMIT_TOKENS),
      historyBudget: bytesOf(settings.HISTORY_BUDGET),
      maxConnections: Number(settings.MAX_CONNECTIONS),
    },
    paymentTopics: listOf(settings.PAYMENT_TOPICS),
    topicPrefix: settings.TOPIC_PREFIX,
    retrySchedule: scheduleOf(settings),
    delivery: deliveryOf(settings),
    logLevel: settings.LOG_LEVEL as LogLevel,
    tracing: { endpoint: collectorOf(settings.OTEL_EXPORTER_OTLP_ENDPOINT), serviceName: settings.OTEL_SERVICE_NAME },
  };
}

/** What is wrong with the settings, a sentence for each that begins with its name. */
export function wrongSettings(environment: Environment = process.env): string[] {
  const wrong = new Map<string, string>();
  for (let left = environment; ; ) {
    try {
      readConfig(left);
      return [...wrong.values()];
    } catch (error) {
      if (!(error instanceof InvalidConfig)) throw error;
      const [key = ''] = error.message.split(' ');
      // One that is missing is wrong without a value too.
      if (wrong.has(key)) return [...wrong.values()];
      wrong.set(key, error.message);
      left = { ...left, [key]: undefined };
    }
  }
}

function retentionOf({ BROKER_RETENTION: kept, BROKER_RETENTION_SIZE: size }: Settings): RetentionConfig {
  return { keptMs: kept === '0' ? null : milliseconds(kept) || null, mostBytes: bytesOf(size) };
}

function scheduleOf(settings: Settings): Config['retrySchedule'] {
  const [first, ...rest] = listOf(settings.RETRY_SCHEDULE);
  const delayOf = (text: string) => {
    const ms = milliseconds(text);
    // What fails would go round in such a tier as fast as it can be written.
    if (ms === 0) throw invalid('RETRY_SCHEDULE', 'must have delays of more than 0');
    return { text, ms };
  };
  return [delayOf(first), ...rest.map(delayOf)];
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

/** The embedded default makes one of its own; with servers that several machines share, one of their own would be useless. */
function masterKeyOf(settings: Settings): Buffer | null {
  const embedded = settings.EVENT_STORE_URL === 'sqlite' && settings.BROKER_URL === 'sqlite';
  if (!embedded && !settings.MASTER_KEY)
    throw invalid('MASTER_KEY', 'must be set where EVENT_STORE_URL or BROKER_URL is');
  return keyOf(settings.MASTER_KEY);
}

function kafkaOf(settings: Settings): KafkaConfig {
  return {
    brokers: listOf(settings.BROKER_URL.slice('kafka://'.length)),
    // A CA without TLS would be a mistake nobody notices.
    tls: settings.KAFKA_TLS === 'true' || settings.KAFKA_CA_FILE !== '',
    caFile: settings.KAFKA_CA_FILE || null,
    sasl: saslOf(settings),
    partitions: Number(settings.KAFKA_PARTITIONS),
    replicationFactor: settings.KAFKA_REPLICATION_FACTOR ? Number(settings.KAFKA_REPLICATION_FACTOR) : null,
    retentionMs: positive('KAFKA_RETENTION', settings),
  };
}

function saslOf(settings: Settings): SaslConfig | null {
  const { KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_USERNAME: username, KAFKA_SASL_PASSWORD: password } = settings;
  if (!mechanism && !username && !password) return null;
  if (!mechanism)
    throw invalid('KAFKA_SASL_MECHANISM', 'must be set where KAFKA_SASL_USERNAME or KAFKA_SASL_PASSWORD is');
  if (!username) throw invalid('KAFKA_SASL_USERNAME', 'must be set where KAFKA_SASL_MECHANISM is');
  if (!password) throw invalid('KAFKA_SASL_PASSWORD', 'must be set where KAFKA_SASL_MECHANISM is');
  return { mechanism: mechanism as SaslConfig['mechanism'], username, password };
}

function deliveryOf(settings: Settings): DeliveryConfig {
  const { DELIVERY_CLIENT_CERT_FILE: cert, DELIVERY_CLIENT_KEY_FILE: key } = settings;
  if (cert && !key) throw invalid('DELIVERY_CLIENT_KEY_FILE', 'must be set where DELIVERY_CLIENT_CERT_FILE is');
  if (key && !cert) throw invalid('DELIVERY_CLIENT_CERT_FILE', 'must be set where DELIVERY_CLIENT_KEY_FILE is');
  return {
    timeoutMs: timerMs('DELIVERY_TIMEOUT', settings),
    concurrency: Number(settings.DELIVERY_CONCURRENCY),
    endpointConcurrency: Number(settings.ENDPOINT_CONCURRENCY),
    deactivateAfterMs: settings.DEACTIVATE_AFTER === '0' ? 0 : milliseconds(settings.DEACTIVATE_AFTER),
    allowedPorts: listOf(settings.ALLOWED_PORTS).map(portRange),
    allowPrivateEndpoints: settings.ALLOW_PRIVATE_ENDPOINTS === 'true',
    caFile: settings.DELIVERY_CA_FILE || null,
    clientCertFile: cert || null,
    clientKeyFile: key || null,
    group: settings.KAFKA_GROUP,
  };
}

/** Keys over plain http could be swapped on the way; only this machine's own issuer may be asked so. */
function jwksUrlOf(value: string): string | null {
  if (!value) return null;
  const url = parseUrl(value);
  const loopback = url && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  // fetch takes no such URL, and says so with all of it: the log would show the password.
  if (url?.username || url?.password) throw invalid('AUTH_JWKS_URL', 'must have no user and password');
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && loopback)) return url.href;
  throw invalid('AUTH_JWKS_URL', 'must be an https URL (http only to this machine)');
}

function publicUrlOf(value: string): string | null {
  if (!value) return null;
  const url = parseUrl(value);
  const isPlain = url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !/[?#]/.test(value);
  if (isPlain) return url.href.replace(/\/+$/, '');
  throw invalid('PUBLIC_URL', 'must be an https or http URL without user, query and fragment');
}

/** Credentials of a collector go into a header (OTEL_EXPORTER_OTLP_HEADERS): a URL ends in logs. */
function collectorOf(value: string): string | null {
  if (!value) return null;
  const url = parseUrl(value);
  if (url?.username || url?.password) throw invalid('OTEL_EXPORTER_OTLP_ENDPOINT', 'must have no user and password');
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return url.href;
  throw invalid('OTEL_EXPORTER_OTLP_ENDPOINT', 'must be an http or https URL, like http://127.0.0.1:4318');
}
