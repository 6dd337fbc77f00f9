/** The settings as one typed object: each value as parsed by table.ts, null if unset. */
import type { Values } from './table.js';

export type Config = ReturnType<typeof configOf>;
export type KafkaConfig = NonNullable<Config['kafka']>;

/** @param proxyVariables those that are set, of the ones by which other programs use a forward proxy */
export function configOf(values: Values, proxyVariables: readonly string[]) {
  return {
    proxyVariables,
    host: values.HOST,
    port: values.PORT,
    adminPort: values.ADMIN_PORT,
    dataDir: values.DATA_DIR,
    /** Null: the embedded store. */
    eventStoreUrl: values.EVENT_STORE_URL,
    /** Null: the embedded broker. */
    kafka: kafkaOf(values),
    /** How long the embedded broker keeps done records; null: forever. */
    brokerRetentionMs: values.BROKER_RETENTION || null,
    /** Bytes, from which deliveries that arrived at once leave the view. */
    deliveriesViewSize: values.DELIVERIES_VIEW_SIZE,
    /** Null: with the embedded default, a key is generated once in dataDir. */
    masterKey: values.MASTER_KEY,
    masterKeyPrevious: values.MASTER_KEY_PREVIOUS,
    auth: authOf(values),
    api: apiOf(values),
    paymentTopics: values.PAYMENT_TOPICS,
    /** Null: none. */
    eventSchemas: values.EVENT_SCHEMAS,
    topicPrefix: values.TOPIC_PREFIX,
    retrySchedule: values.RETRY_SCHEDULE,
    delivery: deliveryOf(values),
    logLevel: values.LOG_LEVEL,
    /** Of an OTLP collector; null: no spans. */
    tracesEndpoint: values.OTEL_EXPORTER_OTLP_ENDPOINT,
  } as const;
}

function authOf(values: Values) {
  return {
    tokenLifetimeMs: values.TOKEN_LIFETIME,
    /** Null: the service's own tokens. */
    jwksUrl: values.AUTH_JWKS_URL,
    issuer: values.AUTH_ISSUER,
    audience: values.AUTH_AUDIENCE,
    accountClaim: values.AUTH_ACCOUNT_CLAIM,
    clockToleranceMs: values.AUTH_CLOCK_TOLERANCE,
    publisherScope: values.AUTH_PUBLISHER_SCOPE,
  } as const;
}

function apiOf(values: Values) {
  return {
    /** The URL for clients, without a trailing slash; null: unknown. */
    publicUrl: values.PUBLIC_URL,
    /** Origins that may embed the console; null: none. */
    consoleFrameAncestors: values.CONSOLE_FRAME_ANCESTORS,
    /** Requests per minute and account; 0: no limit. */
    writesPerMinute: values.RATE_LIMIT_WRITES,
    tokensPerMinute: values.RATE_LIMIT_TOKENS,
    /** Process time for an account's reads, in ms per minute; 0: no limit. */
    readMsPerMinute: values.RATE_LIMIT_READS,
    /** Bytes that an account may add to its history at once; null: no limit. */
    historyBudget: values.HISTORY_BUDGET || null,
    maxConnections: values.MAX_CONNECTIONS,
  } as const;
}

function kafkaOf(values: Values) {
  const { BROKER_URL: brokers, KAFKA_CA_FILE: caFile, KAFKA_CLIENT_CERT_FILE: clientCertFile } = values;
  if (brokers === null) return null;
  return {
    brokers,
    // A CA or a client certificate without TLS would be a mistake that nobody notices.
    tls: values.KAFKA_TLS || caFile !== null || clientCertFile !== null,
    caFile,
    /** Both or none: a rule of read-config.ts. */
    clientCertFile,
    clientKeyFile: values.KAFKA_CLIENT_KEY_FILE,
    sasl: saslOf(values),
    partitions: values.KAFKA_PARTITIONS,
    /** Null: the broker's default. */
    replicationFactor: values.KAFKA_REPLICATION_FACTOR,
    retentionMs: values.KAFKA_RETENTION,
  } as const;
}

/** All three or none: a rule of read-config.ts. */
function saslOf(values: Values) {
  const { KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_USERNAME: username, KAFKA_SASL_PASSWORD: password } = values;
  if (mechanism === null || username === null || password === null) return null;
  return { mechanism, username, password } as const;
}

function deliveryOf(values: Values) {
  return {
    timeoutMs: values.DELIVERY_TIMEOUT,
    concurrency: values.DELIVERY_CONCURRENCY,
    endpointConcurrency: values.ENDPOINT_CONCURRENCY,
    /** How long an endpoint may fail before its webhooks are deactivated; 0: forever. */
    deactivateAfterMs: values.DEACTIVATE_AFTER,
    allowedPorts: values.ALLOWED_PORTS,
    allowPrivateEndpoints: values.ALLOW_PRIVATE_ENDPOINTS,
    /** The operator's denied addresses, in addition to the built-in ones; null: none. */
    deniedAddresses: values.DENIED_ADDRESSES,
    caFile: values.DELIVERY_CA_FILE,
    /** Both or none: a rule of read-config.ts. */
    clientCertFile: values.DELIVERY_CLIENT_CERT_FILE,
    clientKeyFile: values.DELIVERY_CLIENT_KEY_FILE,
    /** The prefix of this installation's consumer groups, also on the embedded broker. */
    group: values.KAFKA_GROUP ?? `${values.TOPIC_PREFIX}account-webhooks`,
  } as const;
}
