/** Creates a client from a connection string; see the hazards of closing one. */
import { EventStoreDBClient } from '@eventstore/db-client';
import { withinTime } from '../common/time-limit.js';
import { CaFileUnusable, checkCaFile } from './ca-file.js';
import { keepDiscoveryFailures } from './discovery-failure.js';
import { installUnnamedAddresses } from './unnamed-addresses.js';

const CLOSE_WITHIN_MS = 2_000;

class NoConnectionString extends Error {
  override readonly name = 'NoConnectionString';
  readonly code = 'NO_CONNECTION_STRING';
}

/** @throws CaFileUnusable; NoConnectionString, without the client's message, which quotes the string and its password */
export function connect(url: string): EventStoreDBClient {
  installUnnamedAddresses();
  keepDiscoveryFailures();
  try {
    checkCaFile(url);
    return withoutUnheardFailures(warningByName(() => EventStoreDBClient.connectionString(url)));
  } catch (error) {
    if (error instanceof CaFileUnusable) throw error;
    throw new NoConnectionString(
      `EVENT_STORE_URL is not a connection string that EventStoreDB's client accepts: ${whyRefused(url, error)}`,
    );
  }
}

/** What the client refuses: without what stands there, which may be a secret. */
function whyRefused(url: string, error: unknown): string {
  const {
    expected,
    location: [from] = [0],
    message,
  } = error as Error & { expected?: string; location?: [number, number] };
  // A number that is out of its range: the message names its option.
  if (expected === undefined) return error instanceof URIError ? 'a % in it begins no encoded character' : message;
  if (url[from] === '[') return 'it takes no IPv6 address: use a host name';
  const [, option] = /[?&]([^=?&]+)=$/.exec(url.slice(0, from)) ?? [];
  return option ? `${option} must be ${expected}` : `it expects ${expected} where it has something else`;
}

/**
 * For an ignored option the client prints a console warning with the whole string and its password. Only the first line,
 * which names the option, becomes a process warning.
 */
function warningByName<T>(work: () => T): T {
  const { warn } = console;
  console.warn = (text: unknown) => process.emitWarning(`EVENT_STORE_URL: ${String(text).split('\n')[0]}`);
  try {
    return work();
  } finally {
    console.warn = warn;
  }
}

/**
 * After a failed call the client checks its connection without handling errors: if it is discovering a cluster meanwhile and
 * finds none, that rejection would end the process. The caller that started the discovery receives the error anyway.
 */
function withoutUnheardFailures(client: EventStoreDBClient): EventStoreDBClient {
  const inner = client as unknown as { handleError(...about: unknown[]): Promise<void> };
  const { handleError } = inner;
  inner.handleError = (...about) => handleError(...about).catch(() => undefined);
  return client;
}

export interface UserCredentials {
  readonly username: string;
  readonly password: string;
}

/**
 * The credentials of a connection string, to pass with each append: this selects the plain append call, with a deadline and
 * typed errors. The batch append call shares one table of pending appends among all clients of the process, and loses its
 * answers when one connection fails. Undefined over TLS without credentials.
 */
export function credentialsOf(url: string): UserCredentials | undefined {
  const [, username, password] = /^esdb(?:\+discover)?:\/\/([^:@/?]*):([^@/?]*)@/.exec(url) ?? [];
  if (username !== undefined && password !== undefined) {
    return { username: decodeURIComponent(username), password: decodeURIComponent(password) };
  }
  // Without TLS the client sends no credentials, whatever is passed.
  return /[?&]tls=false/i.test(url) ? { username: 'nobody', password: 'nothing' } : undefined;
}

/** The client's dispose ends its streams but leaves the channel open, with a socket and timers. */
export async function disconnect(client: EventStoreDBClient): Promise<void> {
  const { getChannel } = client as unknown as { getChannel(): Promise<{ close(): void }> };
  // Cluster discovery may take minutes: a connection it finds later is closed then.
  const closed = client
    .dispose()
    .then(getChannel)
    .then((channel) => channel.close());
  // A client that never reached its server has nothing to close.
  await withinTime(CLOSE_WITHIN_MS, closed).catch(() => undefined);
}
