import kafkajs from 'kafkajs';
import { TookTooLong } from '../../../src/adapters/common/time-limit.js';
import { failedSend, isUnknownTopic, translated } from '../../../src/adapters/kafka/kafka-errors.js';
import { BrokerRefused, BrokerUnavailable, RecordRefused, TimestampRefused } from '../../../src/ports/broker.js';

const { KafkaJSConnectionError, KafkaJSNonRetriableError, KafkaJSNumberOfRetriesExceeded, KafkaJSProtocolError } =
  kafkajs;

/** As kafkajs wraps what it gave up on. */
const gaveUp = (cause: Error) => new KafkaJSNumberOfRetriesExceeded(cause, { retryCount: 5, retryTime: 300 });
const nothingToBeDone = (cause: Error) => Object.assign(new KafkaJSNonRetriableError(cause), { cause });
const refused = (type: string) =>
  new KafkaJSProtocolError(Object.assign(new Error(type), { type, code: 1, retriable: false }));
const several = (...errors: Error[]) =>
  Object.assign(new Error('Topic creation errors'), { name: 'KafkaJSAggregateError', errors });
const noConnection = (code?: string) =>
  new KafkaJSConnectionError('no connection', { broker: 'kafka-7:9092', ...(code && { code }) });

describe('what is out of reach is told by a code', () => {
  test.each<[string, unknown, string]>([
    ['of the operating system', gaveUp(noConnection('ETIMEDOUT')), 'ETIMEDOUT'],
    ['of Kafka', gaveUp(refused('NOT_CONTROLLER')), 'NOT_CONTROLLER'],
    ['the name of the cause, where it says something', gaveUp(noConnection()), 'KafkaJSConnectionError'],
    [
      'a cause in front of one that says nothing',
      nothingToBeDone(gaveUp(new Error('Broker not connected'))),
      'UNKNOWN',
    ],
    ['the innermost that says something', Object.assign(noConnection('EPIPE'), { cause: new Error('write') }), 'EPIPE'],
    ['of one of several topics', several(refused('INVALID_REPLICATION_FACTOR')), 'INVALID_REPLICATION_FACTOR'],
    ['nothing but an Error', new Error('Broker not connected'), 'UNKNOWN'],
    ['no error at all', undefined, 'UNKNOWN'],
  ])('%s', (_, error, code) => {
    const failure = translated(error);
    expect(failure).toBeInstanceOf(BrokerUnavailable);
    expect(failure).not.toBeInstanceOf(BrokerRefused);
    expect(failure.message).toBe(`the broker can't be used (${code})`);
    expect(failure.cause).toBe(error);
  });
});

describe('a failed connection is told with the setting that mends it', () => {
  const caused = (...errors: Error[]) => new AggregateError([new TookTooLong('nothing came'), ...errors]);
  test.each<[string, Error, RegExp, boolean]>([
    ['nothing listens', gaveUp(noConnection('ECONNREFUSED')), /ECONNREFUSED.*BROKER_URL.*advertised\.listeners/, false],
    ['the last failure before a time-out', caused(noConnection('ENOTFOUND')), /not resolve \(ENOTFOUND\)/, false],
    ['a certificate', gaveUp(noConnection('SELF_SIGNED_CERT_IN_CHAIN')), /KAFKA_CA_FILE$/, true],
    ['a demanded certificate', noConnection('ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED'), /CLIENT_CERT_FILE/, true],
    ['a certificate that has expired', noConnection('CERT_HAS_EXPIRED'), /renew it/, true],
    ['no version in common', noConnection('ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION'), /TLS 1\.2 or 1\.3/, true],
    ['TLS where plain text is spoken', noConnection('ERR_SSL_WRONG_VERSION_NUMBER'), /unset KAFKA_TLS/, false],
    ['credentials where none are taken', refused('ILLEGAL_SASL_STATE'), /takes none.*KAFKA_SASL_MECHANISM/, true],
    ['plain text where TLS is spoken', noConnection('TLS_ANSWER'), /set KAFKA_TLS=true/, false],
  ])('%s', (_, error, says, isRefused) => {
    const failure = translated(error);
    expect(failure.message).toMatch(says);
    expect(failure instanceof BrokerRefused).toBe(isRefused);
  });
});

it.each([
  [new TookTooLong('nothing came'), 'TOOK_TOO_LONG'],
  [gaveUp(new kafkajs.KafkaJSRequestTimeoutError('timed out')), 'KafkaJSRequestTimeoutError'],
])('says of a Kafka that is silent that it did not answer', (error, code) => {
  expect(translated(error).message).toBe(`Kafka at BROKER_URL did not answer in time (${code})`);
});

it.each(['RECORD_LIST_TOO_LARGE', 'INVALID_TIMESTAMP'])(
  'of a send, %s is a refusal of its records, which no retry mends',
  (type) => {
    const refusal = failedSend(gaveUp(refused(type)));
    expect(refusal).toBeInstanceOf(RecordRefused);
    expect(refusal.message).toBe(type);
  },
);

it.each([
  ['TOPIC_AUTHORIZATION_FAILED', BrokerRefused],
  ['NOT_ENOUGH_REPLICAS', BrokerUnavailable],
  ['CORRUPT_MESSAGE', BrokerUnavailable],
])('of a send, %s is no refusal of its records', (type, kind) => {
  expect(failedSend(refused(type))).toBeInstanceOf(kind);
});

it('finds what no new try mends among the failures of several topics too', () => {
  expect(translated(several(refused('TOPIC_AUTHORIZATION_FAILED')))).toBeInstanceOf(BrokerRefused);
  expect(isUnknownTopic(several(refused('UNKNOWN_TOPIC_OR_PARTITION')))).toBe(true);
});

it('of a send, INVALID_TIMESTAMP is a refusal of the clock', () => {
  expect(failedSend(refused('INVALID_TIMESTAMP'))).toBeInstanceOf(TimestampRefused);
  expect(failedSend(refused('INVALID_RECORD'))).not.toBeInstanceOf(TimestampRefused);
});

it('reports a group of another protocol by a sentence with the remedy', () => {
  const failure = translated(nothingToBeDone(refused('INCONSISTENT_GROUP_PROTOCOL')));
  expect(failure).not.toBeInstanceOf(BrokerRefused);
  expect(failure.message).toMatch(/^another application uses a consumer group .*INCONSISTENT_GROUP_PROTOCOL.*group.id/);
});
