/** An installation's event store, broker and keys, from its settings: shared by serve and the command line. */
import { randomBytes } from 'node:crypto';
import type { KafkaSettings } from '../adapters/kafka/broker.js';
import { SqliteBroker } from '../adapters/sqlite/broker.js';
import { SqliteEventStore } from '../adapters/sqlite/event-store.js';
import { DataDirUnusable, StoreFile } from '../adapters/sqlite/store-file.js';
import { longestTierMs } from '../delivery/retry/retry-schedule.js';
import { type Topics, topicsOf } from '../delivery/topics.js';
import type { Logger } from '../observability/logger.js';
import { type Broker, SKIPPING } from '../ports/broker.js';
import type { EventStore } from '../ports/event-store.js';
import type { ProjectionServer } from '../ports/projection-server.js';
import type { SealedValue } from '../read-model/sealed-values.js';
import { type MasterKey, MasterKeyMissing, masterKey, masterKeyFromFile } from '../secrets/master-keys.js';
import { createSealing, type Sealing } from '../secrets/sealing.js';
import type { Config, KafkaConfig } from '../settings/config.js';
import { invalid } from '../settings/invalid-config.js';
import { certificatesFrom, clientCertificateFrom } from '../settings/setting-files.js';

export interface Backbone {
  readonly store: EventStore;
  /** Null if the store has no server that folds, as the embedded one. */
  readonly projections: ProjectionServer | null;
  readonly broker: Broker;
  readonly topics: Topics;
  /** store.sqlite, if the store or the broker is embedded. */
  readonly embedded: StoreFile | null;
  readonly masterKey: MasterKey;
  /** The key before it, for a while after a change; otherwise empty. */
  readonly previousKeys: readonly MasterKey[];
  readonly sealing: Sealing;
  close(): Promise<void>;
}

/**
 * Without a sign of life for this long, a member loses its partitions. The broker allows less than 6 s only if
 * configured.
 */
const SESSION_TIMEOUT_MS = 6_000;

/**
 * Loads a server's client only if the settings name the server: the clients take a fifth of a second.
 * @throws InvalidConfig, MasterKeyMissing, DataDirUnusable, SchemaRefused; an unreachable server fails on first use
 */
export async function openBackbone(config: Config, logger: Logger): Promise<Backbone> {
  const keys = keysOf(config, () => ownMasterKey(config.dataDir));
  const embedded = embeddedFile(config);
  const opened: (() => unknown)[] = [() => embedded.close()];
  const close = async () => {
    for (let next = opened.pop(); next; next = opened.pop()) await next();
  };
  try {
    const { store, projections } = await openEventStore(config, embedded);
    opened.push(() => store.close());
    const broker = await openBroker(config, embedded, logger);
    opened.push(() => broker.close());
    const topics = topicsOf(config.paymentTopics, config.topicPrefix);
    return { store, projections, broker, topics, embedded: embedded.opened(), ...keys, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** @param own replaces an unset MASTER_KEY */
export function keysOf(
  config: Pick<Config, 'masterKey' | 'masterKeyPrevious'>,
  own: () => Buffer,
): Pick<Backbone, 'masterKey' | 'previousKeys' | 'sealing'> {
  const key = masterKey(config.masterKey ?? own());
  const previousKeys = config.masterKeyPrevious ? [masterKey(config.masterKeyPrevious)] : [];
  return { masterKey: key, previousKeys, sealing: createSealing([key, ...previousKeys], randomBytes) };
}

/** @throws MasterKeyMissing, DataDirUnusable */
export function ownMasterKey(dataDir: string): Buffer {
  try {
    return masterKeyFromFile(dataDir, randomBytes);
  } catch (error) {
    throw error instanceof MasterKeyMissing ? error : new DataDirUnusable(error);
  }
}

/** store.sqlite, opened by the first that needs it: store and broker share it. */
export function embeddedFile({ dataDir }: Config) {
  let file: StoreFile | null = null;
  return {
    open: () => {
      file ??= new StoreFile(dataDir);
      return file;
    },
    opened: () => file,
    close: () => file?.close(),
  };
}

export async function openEventStore(
  { eventStoreUrl }: Config,
  embedded: { open(): StoreFile },
): Promise<Pick<Backbone, 'store' | 'projections'>> {
  if (eventStoreUrl === null) return { store: new SqliteEventStore(embedded.open()), projections: null };
  const { connect, credentialsOf } = await import('../adapters/eventstoredb/client.js');
  const { EventStoreDbStore } = await import('../adapters/eventstoredb/event-store.js');
  const { EventStoreDbProjections } = await import('../adapters/eventstoredb/projection-server.js');
  const client = connect(eventStoreUrl);
  const credentials = credentialsOf(eventStoreUrl);
  const store = new EventStoreDbStore({ client, credentials, random: Math.random });
  return { store, projections: new EventStoreDbProjections(client) };
}

async function openBroker(config: Config, embedded: { open(): StoreFile }, logger: Logger): Promise<Broker> {
  const { kafka } = config;
  if (!kafka) return new SqliteBroker(embedded.open(), (batch) => logger.warn(batch, SKIPPING));
  const { KafkaBroker } = await import('../adapters/kafka/broker.js');
  return new KafkaBroker(kafkaSettings(config, kafka), logger);
}

export function kafkaSettings(
  { retrySchedule, paymentTopics, topicPrefix }: Config,
  { brokers, tls, caFile, clientCertFile, clientKeyFile, sasl, ...kafka }: KafkaConfig,
): KafkaSettings {
  const { partitions, replicationFactor, retentionMs } = kafka;
  const topics = topicsOf(paymentTopics, topicPrefix);
  const trusted = caFile === null ? {} : trustOnly(certificatesFrom('KAFKA_CA_FILE', caFile));
  return {
    brokers: [...brokers],
    ...(tls && { ssl: { ...trusted, ...clientCertificateFrom(clientCertFile, clientKeyFile, 'KAFKA') } }),
    ...(sasl && { sasl: { ...sasl, mechanism: sasl.mechanism.toLowerCase() } as NonNullable<KafkaSettings['sasl']> }),
    partitions,
    replicationFactor,
    retentionMs: retentionMs + longestTierMs(retrySchedule),
    isOwn: topics.isOwn,
    isOrdered: topics.isOrdered,
    sessionTimeoutMs: SESSION_TIMEOUT_MS,
  };
}

/** No public CA may vouch for a broker. Each certificate is trusted, self-signed or not. */
function trustOnly(ca: string) {
  return { ca: [ca], allowPartialTrustChain: true };
}

/**
 * Stops the start if the master key was changed and the previous one is not set. Otherwise deliveries of accounts
 * registered before the change would wait forever to be signed, and GET would be a 500.
 * @throws InvalidConfig
 */
export function checkKeys(values: Iterable<SealedValue>, sealing: Sealing): void {
  for (const { stream, sealed } of values) {
    if (sealing.hasKeyOf(sealed)) continue;
    const what = `is not the key that secrets of ${stream} are sealed with`;
    throw invalid('MASTER_KEY', `${what}: set that one, here or as MASTER_KEY_PREVIOUS`);
  }
}
