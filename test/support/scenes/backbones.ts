/**
 * The backbones of an installation: all embedded, or all on servers. End-to-end tests run on both of them: a store and a broker
 * know nothing of each other. Each installation has its own topics, groups and folders, so tests can share a Kafka.
 */
import { inFull } from '../../runner/thorough.js';
import { startOwnServer, VERSIONS } from '../../services/eventstoredb/own-server.js';
import type { Settings } from '../clients/service.js';
import { kafkaSettingsOn } from './kafka-installation.js';

export interface Backbone {
  readonly name: string;
  /** Null if not available on this machine. */
  readonly open: (() => Promise<OpenBackbone>) | null;
}

export interface OpenBackbone {
  readonly settings: Settings;
  close(): Promise<void>;
}

const EMBEDDED: Backbone = {
  name: 'SQLite and SQLite',
  open: async () => ({ settings: {}, close: async () => undefined }),
};

const { KAFKA_BROKERS } = process.env;

const SERVERS: Backbone = {
  name: 'EventStoreDB and Kafka',
  open: KAFKA_BROKERS ? () => openServers(KAFKA_BROKERS) : null,
};

/** For tests with several processes: the embedded ones have one. */
export const ON_SERVERS: readonly Backbone[] = [SERVERS];

export const ENDS: readonly Backbone[] = [EMBEDDED, SERVERS];

/** Runs the tests on each backbone; reports loudly an unavailable one. */
export function describeBackbones(define: (backbone: Backbone) => void, backbones = inFull(ENDS, [EMBEDDED])): void {
  for (const backbone of backbones) {
    describe(backbone.name, () => {
      if (backbone.open) define(backbone);
      else test.skip('IS NOT THERE: set KAFKA_BROKERS, or install Java 17 and Maven', () => undefined);
    });
  }
}

/** The protocol-level test server, in the test's own process, or a real one: see own-server.ts. */
async function openServers(brokers: string): Promise<OpenBackbone> {
  const server = await startOwnServer({ version: VERSIONS.at(-1) ?? VERSIONS[0] });
  return { settings: { EVENT_STORE_URL: server.url, ...kafkaSettingsOn(brokers) }, close: () => server.stop() };
}
