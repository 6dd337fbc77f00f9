/**
 * Every setting: its parser, default and description. The startup check, the types of Config, the help of `serve` and
 * docs/settings.md (make settings-document) derive from this table; config.ts maps settings to Config.
 */
import { LOG_LEVELS } from '../observability/logger.js';
import { optional, type Parser } from './parsers/parser.js';
import { duration, durationOrOff, positiveDuration, schedule, sizeOrOff, timeout } from './parsers/quantities.js';
import {
  addressRanges,
  brokerUrl,
  collectorUrl,
  eventStoreUrl,
  jwksUrl,
  port,
  portRanges,
  publicUrl,
} from './parsers/urls.js';
import { flag, group, key, oneOf, path, prefix, text, topics, whole, wholeOrOff, wholeTo99 } from './parsers/words.js';

export interface Setting<T = unknown> {
  readonly parser: Parser<T>;
  /** As the text of the setting, valid for the parser. Empty: none. */
  readonly byDefault: string;
  /** A sentence in Markdown, of which only `code` is used. */
  readonly says: string;
}

const setting = <T>(parser: Parser<T>, byDefault: string, says: string): Setting<T> => ({ parser, byDefault, says });
/** Without a default: null if unset. */
const unset = <T>(parser: Parser<T>, says: string) => setting(optional(parser), '', says);

/** By section, as shown in the documents. */
export const SECTIONS = {
  Addresses: {
    HOST: setting(text, '127.0.0.1', 'The address that the API and the admin port listen on.'),
    PORT: setting(port, '8080', 'The port of the API; `0` is any that is free.'),
    ADMIN_PORT: setting(
      port,
      '9090',
      'The port of `/health/live`, `/health/ready` and `/metrics`; `0` is any that is free.',
    ),
    PUBLIC_URL: unset(
      publicUrl,
      'Where clients reach the service, like `https://webhooks.example.com`: set it behind a proxy; else the OAuth metadata names `http://` and the Host of the request. With a path, map `/.well-known/oauth-authorization-server/<path>` to it at the proxy (RFC 8414 3.1).',
    ),
  },
  'Data and servers': {
    DATA_DIR: setting(path, './data', 'The folder of `store.sqlite`, `master.key` and the read model.'),
    EVENT_STORE_URL: setting(
      eventStoreUrl,
      'sqlite',
      'Where the history is: in `store.sqlite`, or in EventStoreDB (with commas between hosts).',
    ),
    BROKER_URL: setting(brokerUrl, 'sqlite', 'Where the records are: in `store.sqlite`, or in Kafka.'),
    MASTER_KEY: unset(
      key,
      'The key that secrets are sealed with, the same in every process of the installation. Where it is not set, it is made once in `DATA_DIR`; with EventStoreDB or Kafka it must be set.',
    ),
    MASTER_KEY_PREVIOUS: unset(
      key,
      'The master key before this one, which still opens: needed for as long as something is sealed with it.',
    ),
  },
  'Access tokens': {
    TOKEN_LIFETIME: setting(positiveDuration, '1h', "How long one of the service's own tokens is valid."),
    AUTH_JWKS_URL: unset(
      jwksUrl,
      "The key set (JWKS) of another issuer, whose tokens are taken instead of the service's own: RS256, PS256, ES256 or EdDSA.",
    ),
    AUTH_ISSUER: setting(text, 'account-webhooks', 'The issuer (`iss`) of tokens.'),
    AUTH_AUDIENCE: setting(text, 'account-webhooks', 'The audience (`aud`) of tokens.'),
    AUTH_ACCOUNT_CLAIM: setting(text, 'sub', "The claim of another issuer's tokens that holds the account's number."),
  },
  'Limits of the API': {
    RATE_LIMIT_WRITES: setting(wholeOrOff, '20000', 'How many requests that write an account may send in a minute.'),
    RATE_LIMIT_TOKENS: setting(wholeOrOff, '6000', 'How many requests for a token an account may send in a minute.'),
    HISTORY_BUDGET: setting(
      sizeOrOff,
      '20MiB',
      'How much an account may add to its history at once; a quarter of it comes back in an hour; `0` is no limit. What removes or switches off is always accepted.',
    ),
    RATE_LIMIT_READS: setting(
      wholeOrOff,
      '6000',
      "How much of the process's time the reads of an account may take in a minute, in ms; `0` is no limit. Far more than clients need.",
    ),
    MAX_CONNECTIONS: setting(
      whole,
      '10000',
      'How many connections the API takes. One more is closed as it comes, and so is one with over 32 unanswered requests, or that reads nothing of an answer for 30 s.',
    ),
  },
  Topics: {
    PAYMENT_TOPICS: setting(topics, 'payment-events', 'The topics that payment events are published to.'),
    TOPIC_PREFIX: setting(
      prefix,
      '',
      "What the names of the service's own topics (`webhooks.*`) begin with; `PAYMENT_TOPICS` are used as given.",
    ),
  },
  Deliveries: {
    RETRY_SCHEDULE: setting(
      schedule,
      '5s,5m,30m,2h,5h,10h,14h,20h,24h',
      'How long a delivery waits after each of its failures; it is tried no more after the last.',
    ),
    DELIVERY_TIMEOUT: setting(timeout, '15s', 'How long one attempt may take.'),
    DELIVERY_CONCURRENCY: setting(whole, '256', 'How many attempts a process makes at the same time.'),
    ENDPOINT_CONCURRENCY: setting(whole, '16', 'How many of them may go to the same URL of an account.'),
    DEACTIVATE_AFTER: setting(
      durationOrOff,
      '120h',
      'How long a URL may take nothing before its webhooks are deactivated; `0` is never.',
    ),
  },
  Receivers: {
    ALLOWED_PORTS: setting(portRanges, '443,8443', 'The ports that the URL of a webhook may have.'),
    ALLOW_PRIVATE_ENDPOINTS: setting(
      flag,
      'false',
      'Whether the URL of a webhook may lead to a private address or a local name: for tests.',
    ),
    DENIED_ADDRESSES: unset(
      addressRanges,
      'Networks that no delivery goes to, like `203.0.113.0/24,2001:db8::/32`, also where `ALLOW_PRIVATE_ENDPOINTS` is `true`.',
    ),
    DELIVERY_CA_FILE: unset(
      path,
      'A file of CA certificates in PEM that receivers are trusted by besides the public ones.',
    ),
    DELIVERY_CLIENT_CERT_FILE: unset(path, 'The file of the certificate in PEM that the service shows to receivers.'),
    DELIVERY_CLIENT_KEY_FILE: unset(path, 'The file of its key in PEM.'),
  },
  'Embedded broker': {
    BROKER_RETENTION: setting(
      durationOrOff,
      '168h',
      'How long a record is kept that is done, on top of the longest delay of `RETRY_SCHEDULE`; `0` is for ever.',
    ),
    BROKER_RETENTION_SIZE: setting(
      sizeOrOff,
      '0',
      'From how much of `store.sqlite` in use a record that is done goes earlier; `0` is any size.',
    ),
  },
  Kafka: {
    KAFKA_GROUP: setting(group, 'account-webhooks', 'The name of the consumer groups, on the embedded broker too.'),
    KAFKA_PARTITIONS: setting(whole, '12', 'How many partitions a topic has that the service creates.'),
    KAFKA_REPLICATION_FACTOR: unset(
      wholeTo99,
      "How many replicas such a topic has; where it is not set, the broker's default.",
    ),
    KAFKA_RETENTION: setting(
      duration,
      '168h',
      'How long such a topic keeps its records, on top of the longest delay of `RETRY_SCHEDULE`.',
    ),
    KAFKA_TLS: setting(flag, 'false', 'Whether Kafka is spoken to over TLS.'),
    KAFKA_CA_FILE: unset(
      path,
      "The file of the CA certificates in PEM that Kafka's brokers are trusted by; alone it turns TLS on.",
    ),
    KAFKA_SASL_MECHANISM: unset(
      oneOf(['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512']),
      'How the service authenticates itself, with `KAFKA_SASL_USERNAME` and `KAFKA_SASL_PASSWORD`.',
    ),
    KAFKA_SASL_USERNAME: unset(text, 'The user that the service is at Kafka.'),
    KAFKA_SASL_PASSWORD: unset(text, "The user's password."),
  },
  'Logs and traces': {
    LOG_LEVEL: setting(oneOf(LOG_LEVELS), 'info', 'What is logged: this level and those before it.'),
    OTEL_EXPORTER_OTLP_ENDPOINT: unset(
      collectorUrl,
      'A collector of spans, by OTLP over HTTP with JSON; where it is not set, no spans are made.',
    ),
    OTEL_SERVICE_NAME: setting(text, 'account-webhooks', 'The name of the service in its spans.'),
  },
} as const;

type Sections = typeof SECTIONS;
export type Key = { [S in keyof Sections]: keyof Sections[S] }[keyof Sections];
type SettingOf<K extends Key> = Extract<Sections[keyof Sections], Readonly<Record<K, unknown>>>[K];

/** The parsed values of all settings. */
export type Values = { readonly [K in Key]: SettingOf<K> extends Setting<infer T> ? T : never };

export const SETTINGS = Object.entries<Readonly<Record<string, Setting>>>(SECTIONS).flatMap(([section, settings]) =>
  Object.entries(settings).map(([key, setting]) => ({ section, key, ...setting })),
);
