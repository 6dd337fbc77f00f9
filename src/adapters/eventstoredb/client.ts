/** Creates a client from a connection string; see the hazards of closing one. */
import { readFileSync } from 'node:fs';
import { EventStoreDBClient } from '@eventstore/db-client';
import { certificatesIn } from '../../host/pem-certificates.js';
import { withinTime } from '../common/time-limit.js';
import { patchClient } from './client-patches.js';

const CLOSE_WITHIN_MS = 2_000;
const OPTION = /[?&]([^=&?]+)=([^&?]+)/g;
const NAMES_A_FILE = 'tlsCaFile in EVENT_STORE_URL names a file';

class CaFileUnusable extends Error {
  override readonly name = 'CaFileUnusable';
  readonly code = 'CA_FILE_UNUSABLE';
}

class NoConnectionString extends Error {
  override readonly name = 'NoConnectionString';
  readonly code = 'NO_CONNECTION_STRING';
}

/** @throws CaFileUnusable; NoConnectionString, without the client's message, which quotes the string and its password */
export function connect(url: string): EventStoreDBClient {
  patchClient();
  try {
    checkCaFile(url);
    return withoutUnheardFailures(warningByName(() => EventStoreDBClient.connectionString(url)));
  } catch (error) {
    if (error instanceof CaFileUnusable) throw error;
    const text = "EVENT_STORE_URL is not a connection string that EventStoreDB's client accepts";
    throw new NoConnectionString(`${text}: ${whyRefused(url, error)}`);
  }
}

/** Checked before the client does, which reports a bad file as a bad string. @throws CaFileUnusable, URIError */
function checkCaFile(url: string): void {
  const options = new Map([...url.matchAll(OPTION)].map(([, key = '', value = '']) => [plain(key), value.trim()]));
  const path = options.get('tlscafile');
  // Without TLS the client ignores it.
  if (path === undefined || options.get('tls') === 'false') return;
  const pem = attempt("can't be read", () => readFileSync(decodeURIComponent(path), 'utf8'));
  const certificates = attempt('has a damaged certificate', () => certificatesIn(pem));
  if (certificates.length === 0) throw new CaFileUnusable(`${NAMES_A_FILE} that holds no certificate in PEM`);
}

/** As the client compares option names. */
const plain = (key: string) => key.trim().toLowerCase().replace(/[_-]/g, '');

function attempt<T>(failure: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof URIError) throw error;
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    throw new CaFileUnusable(`${NAMES_A_FILE} that ${failure} (${code})`, { cause: error });
  }
}

/** What the client refuses: without what stands there, which may be a secret. */
function whyRefused(url: string, error: unknown): string {
  const { expected, location = [0], message } = error as Error & { expected?: string; location?: [number, number] };
  const [from] = location;
  // A number that is out of its range: the message names its option.
  if (expected === undefined) return error instanceof URIError ? 'a % in it begins no encoded character' : message;
  if (url[from] === '[') return 'it takes no IPv6 address: use a host name';
  const [, option] = /[?&]([^=?&]+)=$/.exec(url.slice(0, from)) ?? [];
  return option ? `${option} must be ${expected}` : `it expects ${expected} where it has something else`;
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
