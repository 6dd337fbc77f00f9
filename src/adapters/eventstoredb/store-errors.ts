/** What @eventstore/db-client throws, as the errors of the port. */
import { ErrorType, type WrongExpectedVersionError } from '@eventstore/db-client';
import { NO_STREAM, StoreRefused, StoreUnavailable, WrongExpectedRevision } from '../../ports/event-store.js';

interface Failure {
  readonly type?: string;
  /** Of gRPC. */
  readonly code?: number | string;
  readonly message?: string;
  readonly name?: string;
}

const UNAUTHENTICATED = 16;
/** The client keeps to itself why each member failed: it may be a certificate as well. */
const NO_MEMBER = /^Failed to discover/;
const CERTIFICATE = /certificate|self[- ]signed|ERR_TLS|ERR_SSL|CERT_/i;

/** By `type`: on the batch path a WrongExpectedVersionError has neither code nor message. */
export function isWrongVersion(error: unknown): error is WrongExpectedVersionError {
  return (error as Failure | null)?.type === ErrorType.WRONG_EXPECTED_VERSION;
}

export function isStreamNotFound(error: unknown): boolean {
  return (error as Failure | null)?.type === ErrorType.STREAM_NOT_FOUND;
}

export function wrongRevision(
  stream: string,
  expected: number,
  { actualVersion }: WrongExpectedVersionError,
): WrongExpectedRevision {
  const actual = typeof actualVersion === 'bigint' ? Number(actualVersion) : NO_STREAM;
  return new WrongExpectedRevision(stream, expected, actual);
}

/**
 * Everything else is "unavailable": while the server is down the client gives UnavailableError, or on the batch path a
 * plain Error of code 14; while it starts, an UnknownError.
 */
export function unavailable(error: unknown): StoreUnavailable {
  if (error instanceof StoreUnavailable) return error;
  const { type, code, message = '', name } = error as Failure;
  if (type === ErrorType.ACCESS_DENIED || code === UNAUTHENTICATED) {
    return new StoreRefused('EventStoreDB refused the credentials of EVENT_STORE_URL', { cause: error });
  }
  if (CERTIFICATE.test(message)) {
    return new StoreRefused("EventStoreDB's certificate was not taken: see tlsCaFile in EVENT_STORE_URL", {
      cause: error,
    });
  }
  if (NO_MEMBER.test(message)) {
    return new StoreUnavailable(
      "no member of EventStoreDB's cluster answers, or none whose certificate is taken: see EVENT_STORE_URL",
      { cause: error },
    );
  }
  return new StoreUnavailable(`the event store can't be used (${type ?? code ?? name ?? 'unknown'})`, { cause: error });
}
