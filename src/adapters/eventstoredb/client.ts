/** A connection string becomes a client; see the hazards of closing one. */
import { EventStoreDBClient } from '@eventstore/db-client';
import { withinTime } from '../common/time-limit.js';
import { CaFileUnusable, checkCaFile } from './ca-file.js';
import { installUnnamedAddresses } from './unnamed-addresses.js';

const CLOSE_WITHIN_MS = 2_000;

class NoConnectionString extends Error {
  override readonly name = 'NoConnectionString';
  readonly code = 'NO_CONNECTION_STRING';
}

/** @throws CaFileUnusable; NoConnectionString, without the client's message, which quotes the string and its password */
export function connect(url: string): EventStoreDBClient {
  installUnnamedAddresses();
  try {
    checkCaFile(url);
    return withoutUnheardFailures(warningByName(() => EventStoreDBClient.connectionString(url)));
  } catch (error) {
    if (error instanceof CaFileUnusable) throw error;
    throw new NoConnectionString("EVENT_STORE_URL is not a connection string that EventStoreDB's client accepts");
  }
}

/**
 * The client warns of an option that it ignores on the console, with the whole string and its password. Only the first
 * line, which names the option, becomes a warning of the process.
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
 * After a call that failed the client looks after its connection, and nobody listens: where it is searching a cluster
 * meanwhile and finds none, that rejection would end the process. Whoever asked for the search hears of it anyway.
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
 * The credentials of a connection string, for each append to be called with: that takes the plain way of appending, with
 * a deadline and errors that have types. The other, batched way shares a table of what is pending among all clients of
 * the process, and loses its answers when one connection fails. Undefined over TLS without credentials.
 */
export function credentialsOf(url: string): UserCredentials | undefined {
  const [, username, password] = /^esdb(?:\+discover)?:\/\/([^:@/?]*):([^@/?]*)@/.exec(url) ?? [];
  if (username !== undefined && password !== undefined) {
    return { username: decodeURIComponent(username), password: decodeURIComponent(password) };
  }
  // Without TLS the client sends none, whatever is given.
  return /[?&]tls=false/i.test(url) ? { username: 'nobody', password: 'nothing' } : undefined;
}

/** The client's dispose ends its streams and leaves the channel open, with a socket and timers. */
export async function disconnect(client: EventStoreDBClient): Promise<void> {
  const { getChannel } = client as unknown as { getChannel(): Promise<{ close(): void }> };
  // Searching a cluster may take minutes: what it finds later is closed then.
  const closed = client
    .dispose()
    .then(getChannel)
    .then((channel) => channel.close());
  // A client that never reached its server has nothing to close.
  await withinTime(CLOSE_WITHIN_MS, closed).catch(() => undefined);
}
