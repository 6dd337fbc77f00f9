/**
 * The backbones of an installation: two event stores and two brokers, in pairs. End-to-end tests run on all of them
 * through describeBackbones. Each installation has its own topics, groups and folders, so tests can share a Kafka.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import type { ServerVersion } from '../../services/eventstoredb/own-server.js';
import { needsTestServer, startOwnServer, VERSIONS } from '../../services/eventstoredb/own-server.js';
import type { Settings } from '../clients/service.js';
import { inFull } from '../thorough.js';

export interface Backbone {
  readonly name: string;
  /** Null if not available on this machine. */
  readonly open: (() => Promise<OpenBackbone>) | null;
  /** The test needs an EventStoreDB with features that a real one lacks. */
  readonly needsTestServer?: boolean;
}

export interface OpenBackbone {
  readonly settings: Settings;
  close(): Promise<void>;
}

const SQLITE: Backbone = { name: 'SQLite', open: async () => ({ settings: {}, close: async () => undefined }) };

const KAFKA: Backbone = {
  name: 'Kafka',
  open: process.env.KAFKA_BROKERS ? async () => ({ settings: kafkaSettings(), close: async () => undefined }) : null,
};

/** The protocol-level test server, in the test's own process, or a real one: see own-server.ts. */
function eventStoreDb(version: ServerVersion): Backbone {
  const open = async () => {
    const server = await startOwnServer({ version });
    const settings = { EVENT_STORE_URL: server.url, MASTER_KEY: randomBytes(32).toString('base64') };
    return { settings, close: () => server.stop() };
  };
  return { name: 'EventStoreDB', open };
}

const EMBEDDED = pair(SQLITE, SQLITE);
/** The versions of EventStoreDB do not matter to the broker: so each runs with one of the two. */
const [EARLIER, LATER = EARLIER] = VERSIONS;
const SERVERS = pair(eventStoreDb(LATER), KAFKA);

/** All pairs of event store and broker. */
const BACKBONES: readonly Backbone[] = [EMBEDDED, pair(SQLITE, KAFKA), pair(eventStoreDb(EARLIER), SQLITE), SERVERS];

/** For tests with several processes: the embedded ones have one. */
export const ON_SERVERS: readonly Backbone[] = [SERVERS];

/** All embedded, and all on servers: each store and each broker once. */
export const ENDS: readonly Backbone[] = [EMBEDDED, SERVERS];

/** Main paths run on every pair; for code above the ports both ends suffice. */
const BREADTHS = {
  pairs: inFull(ENDS, ENDS, BACKBONES),
  ends: inFull(ENDS, [EMBEDDED]),
};

/**
 * Runs the tests on each backbone; reports loudly an unavailable one. A store and a broker are independent of each
 * other.
 */
export function describeBackbones(
  define: (backbone: Backbone) => void,
  breadth: keyof typeof BREADTHS | readonly Backbone[] = 'ends',
): void {
  const backbones = typeof breadth === 'string' ? BREADTHS[breadth] : breadth;
  for (const backbone of backbones) {
    const describeIt = () =>
      describe(backbone.name, () => {
        if (backbone.open) define(backbone);
        else test.skip('IS NOT THERE: set KAFKA_BROKERS, or install Java 17 and Maven', () => undefined);
      });
    if (backbone.needsTestServer) needsTestServer(describeIt);
    else describeIt();
  }
}

function pair(store: Backbone, broker: Backbone): Backbone {
  const { open: openStore } = store;
  const { open: openBroker } = broker;
  const open = async (): Promise<OpenBackbone> => {
    const parts = await Promise.all([openStore?.(), openBroker?.()]);
    const settings = Object.assign({}, ...parts.map((part) => part?.settings));
    const close = async () => void (await Promise.all(parts.map((part) => part?.close())));
    return { settings, close };
  };
  return { name: `${store.name} and ${broker.name}`, open: openStore && openBroker && open };
}

function kafkaSettings(): Settings {
  const own = randomUUID();
  return {
    BROKER_URL: `kafka://${process.env.KAFKA_BROKERS}`,
    MASTER_KEY: randomBytes(32).toString('base64'),
    KAFKA_PARTITIONS: '3',
    KAFKA_GROUP: `group-${own}`,
    PAYMENT_TOPICS: `payment-events-${own}`,
    TOPIC_PREFIX: `${own}.`,
  };
}
