/** A Kafka that a test may kill, stop and secure, besides the one shared by all tests. */
import { missingTools } from '../../services/kafka/kafka-jars.js';
import type { startKafka } from '../../services/kafka/kafka-server.js';

export type OwnKafka = Awaited<ReturnType<typeof startKafka>>;

/** Runs tests that need a Kafka of their own, or reports loudly that they did not run. */
export function withOwnKafka(define: () => void): void {
  const missing = missingTools();
  if (missing.length === 0) define();
  else describe('KAFKA', () => test.skip(`CAN NOT BE STARTED: ${missing.join(' and ')} missing`, () => undefined));
}
