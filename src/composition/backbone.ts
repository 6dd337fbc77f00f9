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
import { foldAll } from '../read-model/fold.js';
import { combined, loadProjection, PROJECTIONS } from '../read-model/projection-source.js';
import { type SealedValue, sealedValues } from '../read-model/sealed-values.js';
import { storedBatches } from '../read-model/stored-events.js';
import { type MasterKey, MasterKeyMissing, masterKey, masterKeyFromFile } from '../secrets/master-keys.js';
import { createSealing, type Sealing } from '../secrets/sealing.js';
import { invalid } from '../settings/invalid-config.js';
import type { Config } from '../settings/read-config.js';
import { certificatesFrom, clientCertificateFrom } from '../settings/setting-files.js';
import { forEachInSlices } from '../time/in-slices.js';
import { ACCOUNT_STREAM_PREFIX } from '../webhooks/events.js';
import type { AccountState } from '../webhooks/state.js';

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
  const keys = keysOf(config, () => ownMasterKey(config.DATA_DIR));
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
    const topics = topicsOf(config.PAYMENT_TOPICS, config.TOPIC_PREFIX);
    return { store, projections, broker, topics, embedded: embedded.opened(), ...keys, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** @param own replaces an unset MASTER_KEY */
export function keysOf(
  { MASTER_KEY, MASTER_KEY_PREVIOUS }: Config,
  own: () => Buffer,
): Pick<Backbone, 'masterKey' | 'previousKeys' | 'sealing'> {
  const key = masterKey(MASTER_KEY ?? own());
  const previousKeys = MASTER_KEY_PREVIOUS ? [masterKey(MASTER_KEY_PREVIOUS)] : [];
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
export function embeddedFile({ DATA_DIR }: Config) {
  let file: StoreFile | null = null;
  return {
    open: () => {
      file ??= new StoreFile(DATA_DIR);
      return file;
    },
    opened: () => file,
    close: () => file?.close(),
  };
}

export async function openEventStore(
  { EVENT_STORE_URL: url }: Config,
  embedded: { open(): StoreFile },
): Promise<Pick<Backbone, 'store' | 'projections'>> {
  if (url === null) return { store: new SqliteEventStore(embedded.open()), projections: null };
  const { connect, credentialsOf } = await import('../adapters/eventstoredb/client.js');
  const { EventStoreDbStore } = await import('../adapters/eventstoredb/event-store.js');
  const { EventStoreDbProjections } = await import('../adapters/eventstoredb/projection-server.js');
  const client = connect(url);
  const credentials = credentialsOf(url);
  const store = new EventStoreDbStore({ client, credentials, random: Math.random });
  return { store, projections: new EventStoreDbProjections(client) };
}

async function openBroker(config: Config, embedded: { open(): StoreFile }, logger: Logger): Promise<Broker> {
  const { BROKER_URL: brokers } = config;
  if (!brokers) return new SqliteBroker(embedded.open(), (batch) => logger.warn(batch, SKIPPING));
  const { KafkaBroker } = await import('../adapters/kafka/broker.js');
  return new KafkaBroker(kafkaSettings(config, brokers), logger);
}

/** @param brokers of BROKER_URL */
export function kafkaSettings(config: Config, brokers: readonly string[]): KafkaSettings {
  const topics = topicsOf(config.PAYMENT_TOPICS, config.TOPIC_PREFIX);
  return {
    brokers: [...brokers],
    ...tlsOf(config),
    ...saslOf(config),
    partitions: config.KAFKA_PARTITIONS,
    replicationFactor: config.KAFKA_REPLICATION_FACTOR,
    retentionMs: config.KAFKA_RETENTION + longestTierMs(config.RETRY_SCHEDULE),
    isOwn: topics.isOwn,
    isOrdered: topics.isOrdered,
    sessionTimeoutMs: SESSION_TIMEOUT_MS,
  };
}

/** A CA or a client certificate without TLS would be a mistake that nobody notices. */
function tlsOf(config: Config): Pick<KafkaSettings, 'ssl'> {
  const { KAFKA_CA_FILE: caFile, KAFKA_CLIENT_CERT_FILE: certFile } = config;
  if (!config.KAFKA_TLS && caFile === null && certFile === null) return {};
  // No public CA may vouch for a broker. Each certificate is trusted, self-signed or not.
  const trusted = caFile && { ca: [certificatesFrom('KAFKA_CA_FILE', caFile)], allowPartialTrustChain: true };
  return { ssl: { ...trusted, ...clientCertificateFrom(config, 'KAFKA') } };
}

/** All three are set, or none: a rule of read-config.ts. */
function saslOf(config: Config): Pick<KafkaSettings, 'sasl'> {
  const { KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_USERNAME: username, KAFKA_SASL_PASSWORD: password } = config;
  if (mechanism === null) return {};
  return { sasl: { mechanism: mechanism.toLowerCase(), username, password } as NonNullable<KafkaSettings['sasl']> };
}

/**
 * Stops the start if the master key was changed and the previous one is not set. Otherwise deliveries of accounts
 * registered before the change would wait forever to be signed, and GET would be a 500.
 * @throws InvalidConfig
 */
export async function checkKeys(values: Iterable<SealedValue>, sealing: Sealing): Promise<void> {
  await forEachInSlices(values, ({ stream, sealed }) => {
    if (sealing.hasKeyOf(sealed)) return;
    const what = `is not the key that secrets of ${stream} are sealed with`;
    throw invalid('MASTER_KEY', `${what}: set that one, here or as MASTER_KEY_PREVIOUS`);
  });
}

/**
 * A command has no read model, so it checks the values of the first account that has some. What is sealed with a mistyped key
 * would stop every later start.
 * @throws InvalidConfig, StoreUnavailable
 */
export async function checkKeyOfCommand({ store, sealing }: Pick<Backbone, 'store' | 'sealing'>): Promise<void> {
  const projection = combined(PROJECTIONS.map(loadProjection));
  for await (const { events } of storedBatches(store, null, ACCOUNT_STREAM_PREFIX)) {
    for (const stream of new Set(events.map((event) => event.stream))) {
      // Of an account that can't be read nothing is known, and of an outage the command says itself.
      const folded = await foldAll<AccountState>(projection, store.read(stream)).catch(() => undefined);
      const values = folded ? [...sealedValues({ all: () => [[stream, folded.state]] }, Date.now())] : [];
      await checkKeys(values, sealing);
      if (values.length > 0) return;
    }
  }
}
