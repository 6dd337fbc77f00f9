/** What kafkajs throws, as the errors of the port. Its messages may name hosts; they go to the log, by `cause`. */
import { BrokerRefused, BrokerUnavailable, RecordTooLarge } from '../../ports/broker.js';

interface Failure {
  readonly name?: string;
  readonly type?: string;
  readonly code?: string | number;
  readonly message?: string;
  readonly cause?: unknown;
}

const TOO_LARGE = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE']);
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS|ERR_SSL/;

export function isUnknownTopic(error: unknown): boolean {
  return [...causes(error)].some(({ type }) => type === 'UNKNOWN_TOPIC_OR_PARTITION');
}

export function translated(error: unknown): Error {
  if (error instanceof BrokerUnavailable) return error;
  const failures = [...causes(error)];
  if (failures.some(({ type = '' }) => TOO_LARGE.has(type))) return new RecordTooLarge('the broker takes no such size');
  const refusal = failures.map(refusalOf).find((reason) => reason !== null);
  if (refusal) return new BrokerRefused(refusal, { cause: error });
  return new BrokerUnavailable(`the broker can't be used (${codeOf(failures)})`, { cause: error });
}

/** What no new try mends, and which setting does. */
function refusalOf({ name = '', type = '', code }: Failure): string | null {
  if (name === 'KafkaJSSASLAuthenticationError') {
    return 'Kafka refused the credentials: see KAFKA_SASL_MECHANISM, KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD';
  }
  if (type.endsWith('AUTHORIZATION_FAILED')) return `Kafka does not permit what the service needs (${type})`;
  if (typeof code === 'string' && CERTIFICATE.test(code)) {
    return `Kafka's certificate was not taken (${code}): see KAFKA_TLS and KAFKA_CA_FILE`;
  }
  return null;
}

function codeOf(failures: readonly Failure[]): string {
  const root = failures.at(-1);
  return String(root?.type ?? root?.code ?? root?.name ?? 'UNKNOWN');
}

function* causes(error: unknown): Iterable<Failure> {
  for (let cause = error; typeof cause === 'object' && cause !== null; cause = (cause as Failure).cause) {
    yield cause as Failure;
  }
}
