/** The one typed object that the settings become: each value as its parser of table.ts gives it, null where it is not set. */
import type { Values } from './table.js';

export type Config = ReturnType<typeof configOf>;
export type KafkaConfig = NonNullable<Config['kafka']>;

export function configOf(values: Values) {
  return {
    host: values.HOST,
    port: values.PORT,
    adminPort: values.ADMIN_PORT,
    dataDir: values.DATA_DIR,
    /** Null: the embedded one. */
    eventStoreUrl: values.EVENT_STORE_URL,
    /** Null: the embedded broker. */
    kafka: kafkaOf(values),
    /** Of the embedded broker. */
    retention: {
      /** How long a record is kept that is done; null is for ever. */
      keptMs: values.BROKER_RETENTION || null,
      /** Of store.sqlite in use, before such records go earlier; null is any size. */
      mostBytes: values.BROKER_RETENTION_SIZE || null,
    },
    /** Null: on the embedded default it is made once in dataDir. */
    masterKey: values.MASTER_KEY,
    masterKeyPrevious: values.MASTER_KEY_PREVIOUS,
    auth: authOf(values),
    api: apiOf(values),
    paymentTopics: values.PAYMENT_TOPICS,
    topicPrefix: values.TOPIC_PREFIX,
    retrySchedule: values.RETRY_SCHEDULE,
    delivery: deliveryOf(values),
    logLevel: values.LOG_LEVEL,
    /** `endpoint` of an OTLP collector; null: no spans are made. */
    tracing: { endpoint: values.OTEL_EXPORTER_OTLP_ENDPOINT, serviceName: values.OTEL_SERVICE_NAME },
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
  } as const;
}

function apiOf(values: Values) {
  return {
    /** Where clients reach it, without a slash at the end; null: not said. */
    publicUrl: values.PUBLIC_URL,
    /** Requests a minute and account; 0: no limit. */
    writesPerMinute: values.RATE_LIMIT_WRITES,
    tokensPerMinute: values.RATE_LIMIT_TOKENS,
    /** What an account's reads may take of the process, in ms a minute; 0: no limit. */
    readMsPerMinute: values.RATE_LIMIT_READS,
    /** Bytes that an account may add to its history at once; null: any number. */
    historyBudget: values.HISTORY_BUDGET || null,
    maxConnections: values.MAX_CONNECTIONS,
  } as const;
}

function kafkaOf(values: Values) {
  const { BROKER_URL: brokers, KAFKA_CA_FILE: caFile } = values;
  if (brokers === null) return null;
  return {
    brokers,
    // A CA without TLS would be a mistake nobody notices.
    tls: values.KAFKA_TLS || caFile !== null,
    caFile,
    sasl: saslOf(values),
    partitions: values.KAFKA_PARTITIONS,
    /** Null: the broker's default. */
    replicationFactor: values.KAFKA_REPLICATION_FACTOR,
    retentionMs: values.KAFKA_RETENTION,
  } as const;
}

/** All three are set, or none is: a rule of rules.ts. */
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
    /** How long an endpoint may fail before its webhooks are deactivated; 0: for ever. */
    deactivateAfterMs: values.DEACTIVATE_AFTER,
    allowedPorts: values.ALLOWED_PORTS,
    allowPrivateEndpoints: values.ALLOW_PRIVATE_ENDPOINTS,
    /** Addresses that no delivery may go to, on top of those that never are; null: no more. */
    deniedAddresses: values.DENIED_ADDRESSES,
    caFile: values.DELIVERY_CA_FILE,
    /** Both are set, or none is: a rule of rules.ts. */
    clientCertFile: values.DELIVERY_CLIENT_CERT_FILE,
    clientKeyFile: values.DELIVERY_CLIENT_KEY_FILE,
    /** The name of this installation's consumer groups, on the embedded broker too. */
    group: values.KAFKA_GROUP,
  } as const;
}
