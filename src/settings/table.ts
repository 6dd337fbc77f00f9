/**
 * Every setting: its parser, default and description. The startup check, the types of Config, the help of `serve` and
 * docs/settings.md (make settings-document) derive from this table.
 */
import { LOG_LEVELS } from '../observability/logger.js';
import * as parse from './parsers.js';

export interface Setting<T = unknown> {
  readonly parser: parse.Parser<T>;
  /** As the text of the setting, valid for the parser. Empty: none. */
  readonly byDefault: string;
  /** A sentence in Markdown, of which only `code` is used. */
  readonly says: string;
}

const setting = <T>(parser: parse.Parser<T>, byDefault: string, says: string): Setting<T> => ({
  parser,
  byDefault,
  says,
});
/** Without a default: null if unset. */
const unset = <T>(parser: parse.Parser<T>, says: string) => setting(parse.optional(parser), '', says);

/** By section, as shown in the documents. */
export const SECTIONS = {
  Addresses: {
    HOST: setting(parse.text, '127.0.0.1', 'The address that the API and the admin port listen on.'),
    PORT: setting(parse.port, '8080', 'The port of the API; `0` means any free port.'),
    ADMIN_PORT: setting(
      parse.port,
      '9090',
      'The port of `/health/live`, `/health/ready` and `/metrics`; `0` means any free port.',
    ),
    PUBLIC_URL: unset(
      parse.publicUrl,
      'The URL that clients use, like `https://webhooks.example.com`. Set it behind a proxy; otherwise the OAuth metadata shows `http://` and the Host of the request. If the URL has a path, the proxy must also forward `/.well-known/oauth-authorization-server/<path>` (RFC 8414 3.1).',
    ),
  },
  Console: {
    CONSOLE_FRAME_ANCESTORS: unset(
      parse.origins,
      'The origins whose pages may embed the console, like `https://portal.example.com`; if unset, none may.',
    ),
  },
  'Data and servers': {
    DATA_DIR: setting(parse.path, './data', 'The folder of `store.sqlite`, `master.key` and the read model.'),
    EVENT_STORE_URL: setting(
      parse.eventStoreUrl,
      'sqlite',
      'The event store: `store.sqlite`, or EventStoreDB (hosts separated by commas). `kurrentdb://` and `kurrent://` mean `esdb://`.',
    ),
    BROKER_URL: setting(parse.brokerUrl, 'sqlite', 'The message broker: `store.sqlite`, or Kafka.'),
    MASTER_KEY: unset(
      parse.key,
      'The key that encrypts secrets, the same in every process of the installation. If unset, the service generates it once in `DATA_DIR`; with EventStoreDB or Kafka it must be set.',
    ),
    MASTER_KEY_PREVIOUS: unset(
      parse.key,
      'The previous master key, for decryption only: needed as long as anything is encrypted with it.',
    ),
  },
  'Access tokens': {
    TOKEN_LIFETIME: setting(parse.positiveDuration, '1h', "How long the service's own tokens are valid."),
    AUTH_JWKS_URL: unset(
      parse.jwksUrl,
      'The key set (JWKS) of another issuer, whose tokens the service accepts instead of its own: RS256, PS256, ES256 or EdDSA.',
    ),
    AUTH_ISSUER: setting(parse.text, 'account-webhooks', 'The issuer (`iss`) of tokens.'),
    AUTH_AUDIENCE: setting(parse.text, 'account-webhooks', 'The audience (`aud`) of tokens.'),
    AUTH_ACCOUNT_CLAIM: setting(
      parse.text,
      'sub',
      "The claim of another issuer's tokens that contains the account's number.",
    ),
    AUTH_PUBLISHER_SCOPE: setting(
      parse.scopeToken,
      'payment-events:publish',
      "The scope (`scope` or `scp`) of another issuer's tokens that may publish payment events. Not if the account claim names a registered account.",
    ),
    AUTH_CLOCK_TOLERANCE: setting(
      parse.durationOrOff,
      '30s',
      "How far another issuer's clock may differ from this one: for `iat`, `nbf` and `exp` of its tokens; `0` means not at all.",
    ),
  },
  'Limits of the API': {
    RATE_LIMIT_WRITES: setting(
      parse.wholeOrOff,
      '20000',
      'How many write requests an account may send per minute; half of them may be those of one user ([limits](../SECURITY.md#limits-of-an-account)).',
    ),
    RATE_LIMIT_TOKENS: setting(
      parse.wholeOrOff,
      '6000',
      'How many token requests an account may send per minute; half of them may be those of one client.',
    ),
    HISTORY_BUDGET: setting(
      parse.sizeOrOff,
      '20MiB',
      'How much an account may add to its history in one burst, half of it by one user; the budget refills by a quarter per hour; `0` means no limit. Removals and deactivations are always accepted; a rotation with `revokePrevious` may overdraw the budget by up to 64 KiB.',
    ),
    DELIVERIES_VIEW_SIZE: setting(
      parse.size,
      '10GiB',
      'How large the view of deliveries may become, which the API answers from. Beyond it, deliveries that arrived at their first attempt leave it, oldest first; all others stay as long as their topic keeps them: on Kafka for `KAFKA_RETENTION` plus the longest delay of `RETRY_SCHEDULE`, also if the topic itself has another retention; on the embedded broker as long as `BROKER_RETENTION` keeps the records.',
    ),
    RATE_LIMIT_READS: setting(
      parse.wholeOrOff,
      '6000',
      "How much process time an account's reads may take per minute, in ms, half of it those of one user; `0` means no limit. The default is far more than clients need.",
    ),
    MAX_CONNECTIONS: setting(
      parse.whole,
      '10000',
      'How many connections the API accepts. Further ones are closed at once. A connection is also closed if it has over 32 unanswered requests or reads nothing of a response for 30 s.',
    ),
  },
  Topics: {
    PAYMENT_TOPICS: setting(parse.topics, 'payment-events', 'The topics with payment events.'),
    EVENT_SCHEMAS: unset(
      parse.path,
      'A folder of JSON Schemas (2020-12) of the `data` of events, each named after its type, like `cash_in.json`. Clients see them in `/api/event-types`, and `events publish --check` validates by them; deliveries do not. `x-amount` and `x-reference` name the fields by which a payment is shown and found; they are `data.amount` and `data.endToEndId` by default.',
    ),
    TOPIC_PREFIX: setting(
      parse.prefix,
      '',
      "The prefix of the service's own topics (`webhooks.*`) and of its default group; `PAYMENT_TOPICS` are used as given.",
    ),
  },
  Deliveries: {
    RETRY_SCHEDULE: setting(
      parse.schedule,
      '5s,5m,30m,2h,5h,10h,14h,20h,24h',
      'The retry delays: how long a delivery waits after each failed attempt. The attempt after the last delay is the final one.',
    ),
    DELIVERY_TIMEOUT: setting(
      parse.timeout,
      '15s',
      'The timeout of one attempt, from the name lookup to the end of the headers.',
    ),
    DELIVERY_CONCURRENCY: setting(
      parse.whole,
      '256',
      'How many attempts of a process may be in their first 50 ms. Older ones go on besides.',
    ),
    DELIVERY_MEMORY: setting(
      parse.size,
      '256MiB',
      'How much memory a process may hold for deliveries that wait, and for what it knows of their endpoints: idle connections, TLS sessions, rates. It is never more than a quarter of the limit of the process (its cgroup, or the memory of the machine). The start logs the figure and what it is enough for.',
    ),
    ENDPOINT_CONCURRENCY: setting(
      parse.whole,
      '16',
      'How many concurrent attempts may go to the same URL of an account.',
    ),
    URGENT_EVENT_TYPES: setting(
      parse.eventTypes,
      'med_created,med_accepted,med_rejected',
      'The types of events that are delivered before all others that wait for the same URL.',
    ),
    DEACTIVATE_AFTER: setting(
      parse.durationOrOff,
      '120h',
      'How long a URL may accept nothing before its webhooks are deactivated; `0` means never.',
    ),
  },
  Receivers: {
    ALLOWED_PORTS: setting(parse.portRanges, '443,8443', "The ports allowed in a webhook's URL."),
    ALLOW_PRIVATE_ENDPOINTS: setting(
      parse.flag,
      'false',
      "Whether a webhook's URL may lead to a private address or a local name: for tests.",
    ),
    DENIED_ADDRESSES: unset(
      parse.addressRanges,
      'Networks that no delivery goes to, like `203.0.113.0/24,2001:db8::/32`, even if `ALLOW_PRIVATE_ENDPOINTS` is `true`.',
    ),
    DELIVERY_CA_FILE: unset(
      parse.path,
      'A PEM file of certificates that are trusted for receivers, self-signed or not: CAs, or the certificate of one receiver. They are added to what the process trusts: the public CAs, and those of `NODE_EXTRA_CA_CERTS`, `--use-openssl-ca` or `--use-system-ca`.',
    ),
    DELIVERY_CLIENT_CERT_FILE: unset(
      parse.path,
      'The PEM file of the client certificate that the service shows to receivers.',
    ),
    DELIVERY_CLIENT_KEY_FILE: unset(parse.path, "The PEM file of the client certificate's key, not encrypted."),
  },
  'Embedded broker': {
    BROKER_RETENTION: setting(
      parse.durationOrOff,
      '168h',
      'How long done records are kept, in addition to the longest delay of `RETRY_SCHEDULE`; `0` means forever.',
    ),
  },
  Kafka: {
    KAFKA_GROUP: unset(
      parse.group,
      "The prefix of the consumer groups' names, also on the embedded broker; if unset, `TOPIC_PREFIX` and `account-webhooks`.",
    ),
    KAFKA_PARTITIONS: setting(
      parse.wholeTo256,
      '12',
      'How many partitions the service creates per topic. At most 256, because a cursor of the list of events names each.',
    ),
    KAFKA_REPLICATION_FACTOR: unset(
      parse.wholeTo99,
      "How many replicas the service creates per topic; if unset, the broker's default.",
    ),
    KAFKA_RETENTION: setting(
      parse.positiveDuration,
      '168h',
      'The retention of topics that the service creates, in addition to the longest delay of `RETRY_SCHEDULE`. The view of deliveries goes back as far: it deletes what is older. A change does not alter existing topics: set their retention at Kafka too, or the view deletes earlier than they do, or shows deliveries whose payloads are gone.',
    ),
    KAFKA_TLS: setting(parse.flag, 'false', 'Whether connections to Kafka use TLS.'),
    KAFKA_CA_FILE: unset(
      parse.path,
      "The PEM file of the only CA certificates that are trusted for Kafka's brokers, self-signed or not; setting it turns TLS on.",
    ),
    KAFKA_CLIENT_CERT_FILE: unset(
      parse.path,
      "The PEM file of the client certificate that the service shows to Kafka's brokers; setting it turns TLS on.",
    ),
    KAFKA_CLIENT_KEY_FILE: unset(parse.path, "The PEM file of this client certificate's key."),
    KAFKA_SASL_MECHANISM: unset(
      parse.oneOf(['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512']),
      'How the service authenticates to Kafka, with `KAFKA_SASL_USERNAME` and `KAFKA_SASL_PASSWORD`.',
    ),
    KAFKA_SASL_USERNAME: unset(parse.text, "The service's user at Kafka."),
    KAFKA_SASL_PASSWORD: unset(parse.text, 'The password of this user.'),
  },
  'Logs and traces': {
    LOG_LEVEL: setting(parse.oneOf(LOG_LEVELS), 'info', 'The log level: logs this level and those before it.'),
    OTEL_EXPORTER_OTLP_ENDPOINT: unset(
      parse.collectorUrl,
      'The collector of spans, by OTLP over HTTP with JSON; if unset, and without `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`, no spans are created. `v1/traces` is appended to it. OpenTelemetry itself also reads `OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_EXPORTER_OTLP_CERTIFICATE`, `OTEL_TRACES_SAMPLER` and `OTEL_BSP_MAX_QUEUE_SIZE`.',
    ),
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: unset(
      parse.collectorUrl,
      'The whole URL for spans, in place of `OTEL_EXPORTER_OTLP_ENDPOINT`; nothing is appended to it.',
    ),
    OTEL_SDK_DISABLED: unset(parse.text, 'No spans are created if it is `true`.'),
    OTEL_TRACES_EXPORTER: unset(
      parse.text,
      'No spans are created if it is `none`. Only `otlp` is supported otherwise: the start warns of any other value, and exports by `otlp`.',
    ),
    OTEL_EXPORTER_OTLP_PROTOCOL: unset(
      parse.text,
      'Only `http/json` is supported: the start warns of any other value, and uses that.',
    ),
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: unset(parse.text, 'As `OTEL_EXPORTER_OTLP_PROTOCOL`, which it replaces.'),
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
