/** A Kafka that a test may kill and stop, and the listeners of the one that all tests share. */
import { missingTools } from '../../services/kafka/kafka-jars.js';
import type { startKafka } from '../../services/kafka/kafka-server.js';
import type { Settings } from '../clients/service.js';

export type OwnKafka = Awaited<ReturnType<typeof startKafka>>;

/** Runs tests that need a Kafka of their own, or reports loudly that they did not run. */
export function withOwnKafka(define: () => void): void {
  const missing = missingTools();
  if (missing.length === 0) define();
  else skipped(`CAN NOT BE STARTED: ${missing.join(' and ')} missing`);
}

/** Of secured-listeners.js: host:port each. `relay` is where clients of RELAYED are sent. */
export type Listeners = Readonly<
  Record<'CLIENTS' | 'USERS' | 'CERTIFICATES' | 'UNRESOLVED' | 'RELAYED' | 'relay' | 'caFile', string>
>;

/** Runs tests of the shared Kafka's further listeners, or reports loudly that it has none. */
export function withListeners(define: (listeners: Listeners) => void): void {
  const { KAFKA_LISTENERS } = process.env;
  if (KAFKA_LISTENERS) define(JSON.parse(KAFKA_LISTENERS) as Listeners);
  else skipped('HAS NO LISTENERS FOR THIS: unset KAFKA_BROKERS, and install Java 17 and Maven');
}

/** One of the users of secured-listeners.js. */
export function asUser({ USERS, caFile }: Listeners, user: string, mechanism = 'PLAIN'): Settings {
  const sasl = { KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_USERNAME: user, KAFKA_SASL_PASSWORD: `${user}-pw` };
  return { BROKER_URL: `kafka://${USERS}`, KAFKA_CA_FILE: caFile, ...sasl };
}

function skipped(why: string): void {
  if (process.env.REQUIRE_KAFKA) throw new Error(`KAFKA ${why}`);
  describe('KAFKA', () => test.skip(why, () => undefined));
}
