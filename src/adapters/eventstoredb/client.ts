/** Creates a client from a connection string; see the hazards of closing one. */
import { EventStoreDBClient } from '@eventstore/db-client';
import { withinTime } from '../common/time-limit.js';
import { patchClient } from './client-patches.js';

const CLOSE_WITHIN_MS = 2_000;

class NoConnectionString extends Error {
  override readonly name = 'NoConnectionString';
  readonly code = 'NO_CONNECTION_STRING';
}

/** @throws NoConnectionString, without the client's message, which quotes the string and its password */
export function connect(url: string): EventStoreDBClient {
  patchClient();
  try {
    return withoutUnheardFailures(warningByName(() => EventStoreDBClient.connectionString(url)));
  } catch (error) {
    const text = "EVENT_STORE_URL is not a connection string that EventStoreDB's client accepts";
    throw new NoConnectionString(`${text}: ${whyRefused(error)}`);
  }
}

/** By what the client expected and where: what stands there may be a secret. Its other messages name an option. */
function whyRefused(error: unknown): string {
  const { expected, location = [0], message } = error as Error & { expected?: string; location?: [number, number] };
  return expected === undefined ? message : `it expects ${expected} at character ${location[0] + 1}`;
}

/** The client warns of an ignored option with the whole string and password: pass on only the first line, its name. */
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

export type UserCredentials = { readonly username: string; readonly password: string };

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
