/** Maps errors of @eventstore/db-client to errors of the port. */
import { ErrorType, type WrongExpectedVersionError } from '@eventstore/db-client';
import { explainedTrouble, type Server } from '../../host/connection-trouble.js';
import { NO_STREAM, StoreRefused, StoreUnavailable, WrongExpectedRevision } from '../../ports/event-store.js';
import { lastDiscoveryFailure } from './client-patches.js';

interface Failure {
  readonly type?: string;
  /** The gRPC code. */
  readonly code?: number | string;
  readonly message?: string;
  readonly name?: string;
}

const UNKNOWN = 2;
const INVALID_ARGUMENT = 3;
const UNAUTHENTICATED = 16;
const NO_MEMBER = /^Failed to discover/;
/** Node's messages: `Host: db1. is not in the cert's altnames`, `IP: 10.0.0.1 is not in the cert's list`. */
const MISSING_NAME = /(?:Host|IP): (\S+?)\.? is not in the cert/;
const SERVER: Server = {
  name: 'EventStoreDB',
  url: 'EVENT_STORE_URL',
  trust: 'tlsCaFile in EVENT_STORE_URL',
  tls: { on: 'set tls=true in EVENT_STORE_URL', off: 'set tls=false in EVENT_STORE_URL, or use its TLS port' },
  clientCertificate: 'userCertFile and userKeyFile in EVENT_STORE_URL',
};
const RIGHTS = "docs/operations.md, The event store's server";

/** The stream and permission of a call: the server's refusal names neither. */
export interface StreamCall {
  readonly right: 'read' | 'append to';
  readonly stream: string;
}

export const ALL_READ: StreamCall = { right: 'read', stream: '$all' };

const hasType = (error: unknown, type: ErrorType) => (error as Failure | null)?.type === type;
/** Tombstoned. */
export const isStreamDeleted = (error: unknown) => hasType(error, ErrorType.STREAM_DELETED);
export const isStreamNotFound = (error: unknown) => hasType(error, ErrorType.STREAM_NOT_FOUND);

/** No record begins at the place from which to read. 23.10 gives this code to other failures too. */
export function isRefusedPlace(error: unknown): boolean {
  const code = (error as Failure | null)?.code;
  return code === UNKNOWN || code === INVALID_ARGUMENT;
}

/** Null for another error. By `type`: on the batch path a WrongExpectedVersionError has neither code nor message. */
export function wrongRevision(stream: string, expected: number, error: unknown): WrongExpectedRevision | null {
  if (!hasType(error, ErrorType.WRONG_EXPECTED_VERSION)) return null;
  const { actualVersion } = error as WrongExpectedVersionError;
  return new WrongExpectedRevision(
    stream,
    expected,
    typeof actualVersion === 'bigint' ? Number(actualVersion) : NO_STREAM,
  );
}

/** Everything else: UnavailableError, or a batch's Error of code 14 (server down); UnknownError (it starts). */
export function unavailable(error: unknown, asked?: StreamCall): StoreUnavailable {
  if (error instanceof StoreUnavailable) return error;
  const refusal = refusalOf(error as Failure, asked);
  if (refusal) return new StoreRefused(refusal, { cause: error });
  const { type, code, message = '', name } = error as Failure;
  const trouble = explainedTrouble(message, '', SERVER);
  if (trouble) return new (trouble.isLasting ? StoreRefused : StoreUnavailable)(trouble.says, { cause: error });
  if (NO_MEMBER.test(message)) return new StoreUnavailable(noMember(), { cause: error });
  return new StoreUnavailable(`the event store can't be used (${type ?? code ?? name ?? 'unknown'})`, { cause: error });
}

function noMember(): string {
  const why = explainedTrouble(lastDiscoveryFailure() ?? '', '', SERVER)?.says;
  return `no member of EventStoreDB's cluster answers: ${why ?? 'see EVENT_STORE_URL'}`;
}

/** Null if it is none. Wrong credentials come with the type of a missing permission: so the code is checked first. */
function refusalOf({ type, code, message = '' }: Failure, asked: StreamCall | undefined): string | null {
  if (code === UNAUTHENTICATED) {
    return 'EventStoreDB refused the credentials of EVENT_STORE_URL: wrong user or password';
  }
  const isDenied = type === ErrorType.ACCESS_DENIED;
  if (isDenied) return `the user of EVENT_STORE_URL (anonymous if it names none) ${denied(asked)}`;
  const [, name] = MISSING_NAME.exec(message) ?? [];
  if (name === undefined) return null;
  return `EventStoreDB's certificate lacks the name ${name}: use a host name that the certificate has`;
}

function denied(asked: StreamCall | undefined): string {
  if (!asked) return `may not do this: grant the right to one of its groups (${RIGHTS})`;
  const { right, stream } = asked;
  if (stream === '$all') return `may not read $all: name one of its groups in $acl.$r of $all's metadata (${RIGHTS})`;
  const entry = right === 'read' ? '$r' : '$w';
  return `may not ${right} ${stream}: name one of its groups in ${entry} of the stream's ACL, or of $settings (${RIGHTS})`;
}
