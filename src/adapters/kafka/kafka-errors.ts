/** Maps kafkajs errors to errors of the port. Its messages may contain host names; they go to the log, as `cause`. */
import { type Explained, explainedTrouble, type Server } from '../../host/connection-trouble.js';
import { BrokerRefused, BrokerUnavailable, RecordRefused, TimestampRefused } from '../../ports/broker.js';
import { TookTooLong } from '../common/time-limit.js';

interface Failure {
  readonly name?: string;
  readonly type?: string;
  readonly code?: string | number;
  readonly message?: string;
  readonly cause?: unknown;
  readonly errors?: readonly unknown[];
}

const CREDENTIALS =
  'Kafka refused the credentials, or takes none at this port: see KAFKA_SASL_MECHANISM, KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD';
const GROUP_TAKEN =
  'another application uses a consumer group of the service with another protocol (INCONSISTENT_GROUP_PROTOCOL): give it a group.id of its own, or set another KAFKA_GROUP';
const LEADERLESS = new Set(['LEADER_NOT_AVAILABLE', 'NOT_LEADER_FOR_PARTITION']);
const SERVER: Server = {
  name: 'Kafka',
  url: "BROKER_URL, and the brokers' advertised.listeners",
  trust: 'KAFKA_CA_FILE',
  tls: {
    on: 'set KAFKA_TLS=true',
    off: 'unset KAFKA_TLS, KAFKA_CA_FILE and KAFKA_CLIENT_CERT_FILE, or use its TLS port',
  },
  clientCertificate: 'KAFKA_CLIENT_CERT_FILE and KAFKA_CLIENT_KEY_FILE',
};
/** A record's time is outside of what its topic accepts. A publisher's record is stamped by the clock of this machine. */
const BY_CLOCK = 'INVALID_TIMESTAMP';
const TELL_NOTHING = new Set([
  '',
  'Error',
  'KafkaJSError',
  'KafkaJSNonRetriableError',
  'KafkaJSNumberOfRetriesExceeded',
  'KafkaJSAggregateError',
]);

export const isUnknownTopic = (error: unknown) => hasCause(error, ({ type }) => type === 'UNKNOWN_TOPIC_OR_PARTITION');

/** Of a new topic, or after a leader changed or left. kafkajs retries for the topic, but not for the leader. */
export const isLeaderMissing = (error: unknown) =>
  hasCause(error, ({ type = '', name }) => LEADERLESS.has(type) || name === 'KafkaJSBrokerNotFound');

/** kafkajs fails on its own null if no broker returns metadata for its topics, as after a broker's restart. */
export const isPassing = (error: unknown) =>
  isUnknownTopic(error) || isLeaderMissing(error) || error instanceof TypeError;

/** The coordinator stores less metadata with an offset than the commit has. */
export const isMetadataTooLarge = (error: unknown) =>
  hasCause(error, ({ type }) => type === 'OFFSET_METADATA_TOO_LARGE');

/** A permission is missing. */
export const isDenied = (error: unknown) => hasCause(error, ({ type = '' }) => type.endsWith('AUTHORIZATION_FAILED'));

/** Kafka's code if a policy of the cluster forbids a new topic, so that no retry helps; null for any other failure. */
export function forbiddenBy(error: unknown): string | null {
  const code = [...causes(error)].find(({ type = '' }) => type === 'POLICY_VIOLATION' || type === 'INVALID_CONFIG');
  return code?.type ?? null;
}

/** To kafkajs it is permanent, but any failed look-up becomes it: a reset connection, a coordinator that moves. */
export const isCoordinatorMissing = (error: unknown) =>
  hasCause(error, ({ name }) => name === 'KafkaJSGroupCoordinatorNotFound');

/** The group's members use a protocol that is not ours: it can be joined once they have left. */
export const isGroupTaken = (error: unknown) => hasCause(error, ({ type }) => type === 'INCONSISTENT_GROUP_PROTOCOL');

/** Of the service's own requests while a group is joined: kafkajs considers all errors but its own permanent. */
export const isOwnFailure = (error: unknown) =>
  hasCause(error, (one) => one instanceof BrokerUnavailable && !(one instanceof BrokerRefused));

export function translated(error: unknown): Error {
  if (error instanceof BrokerUnavailable) return error;
  const failures = [...causes(error)];
  const denied = failures.find(({ type = '' }) => type.endsWith('AUTHORIZATION_FAILED'));
  if (denied)
    return new BrokerRefused(`Kafka denies a permission that the service needs (${denied.type})`, { cause: error });
  if (failures.some(({ name, type }) => name === 'KafkaJSSASLAuthenticationError' || type === 'ILLEGAL_SASL_STATE'))
    return new BrokerRefused(CREDENTIALS, { cause: error });
  if (failures.some(({ type }) => type === 'INCONSISTENT_GROUP_PROTOCOL'))
    return new BrokerUnavailable(GROUP_TAKEN, { cause: error });
  const trouble = connectionTrouble(...failures);
  if (trouble) return new (trouble.isLasting ? BrokerRefused : BrokerUnavailable)(trouble.says, { cause: error });
  const what = failures.some(isUnanswered) ? 'Kafka at BROKER_URL did not answer in time' : "the broker can't be used";
  return new BrokerUnavailable(`${what} (${codeOf(failures)})`, { cause: error });
}

/** Kafka's codes for records that a topic refuses. Only in the answer to a send: elsewhere some of them mean something else. */
const RECORD_REFUSALS = new Set([
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'INVALID_RECORD',
  'INVALID_TIMESTAMP',
  'POLICY_VIOLATION',
  'UNSUPPORTED_FOR_MESSAGE_FORMAT',
]);

/** As translated; the message of RecordRefused is Kafka's code. */
export function failedSend(error: unknown): Error {
  const refusal = [...causes(error)].find(({ type = '' }) => RECORD_REFUSALS.has(type));
  if (!refusal) return translated(error);
  return new (refusal.type === BY_CLOCK ? TimestampRefused : RecordRefused)(refusal.type, { cause: error });
}

/** Of the innermost failure of a connection; null if there is none. */
export function connectionTrouble(...failures: readonly Failure[]): Explained | null {
  const troubles = failures.map(({ name = '', code = name, message = '' }) =>
    explainedTrouble(`${name} ${code} ${message}`, String(code), SERVER),
  );
  return troubles.findLast((trouble) => trouble !== null) ?? null;
}

/** kafkajs waits or retries after any of these, and then says no more than this. */
export const isVague = (error: unknown) =>
  error instanceof TookTooLong || hasCause(error, ({ name }) => name === 'KafkaJSConnectionClosedError');

function isUnanswered(failure: Failure): boolean {
  return failure instanceof TookTooLong || failure.name === 'KafkaJSRequestTimeoutError';
}

/** Of the innermost cause with a code. */
function codeOf(failures: readonly Failure[]): string {
  const codes = failures.map(({ type, code, name = '' }) => type ?? code ?? (TELL_NOTHING.has(name) ? null : name));
  return String(codes.findLast((code) => code !== null) ?? 'UNKNOWN');
}

const hasCause = (error: unknown, test: (cause: Failure) => boolean) => [...causes(error)].some(test);

/** Outermost first. If several topics were requested at once, each may have failed in its own way. */
function* causes(error: unknown): Iterable<Failure> {
  if (typeof error !== 'object' || error === null) return;
  const failure = error as Failure;
  yield failure;
  yield* causes(failure.cause);
  for (const one of failure.errors ?? []) yield* causes(one);
}
