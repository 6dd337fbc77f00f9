/** What a server that refuses us is told as: each sentence names what has to be changed, and no password. */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, disconnect } from '../../../src/adapters/eventstoredb/client.js';
import { type EventStore, NO_STREAM, StoreRefused } from '../../../src/ports/event-store.js';
import { collect } from '../../contract/contract.js';
import { patience } from '../../runner/patience.js';
import { startEventStore } from '../../services/eventstoredb/event-store-server.js';
import { openEventStoreDb } from '../../support/scenes/eventstoredb-subjects.js';
import { temporaryDirectory } from '../../support/scenes/temporary-directory.js';
import { certificateFor, testAuthority } from '../../support/servers/certificates.js';

const PASSWORD = 'planted-secret';
const KNOWN = `admin:${PASSWORD}@`;
const LIMIT_MS = Math.ceil(5_000 * patience());

let folder: ReturnType<typeof temporaryDirectory>;
let closing: (() => unknown)[];

beforeEach(() => {
  folder = temporaryDirectory();
  closing = [folder.remove];
});

afterEach(async () => {
  for (const close of closing.reverse()) await close();
});

function file(name: string, text: string): string {
  const path = join(folder.path, name);
  writeFileSync(path, text);
  return path;
}

async function secured({ user = KNOWN, isTrusted = true }): Promise<EventStore> {
  const tls = await certificateFor();
  const server = await startEventStore({ tls, credentials: { username: 'admin', password: PASSWORD } });
  closing.push(() => server.stop());
  const trusted = isTrusted ? `&tlsCaFile=${file('ca.pem', (await testAuthority()).cert)}` : '';
  const store = openEventStoreDb(`esdb://${user}localhost:${server.port}?tls=true${trusted}`);
  closing.push(() => store.close());
  return store;
}

const CALLS: Readonly<Record<string, (store: EventStore) => Promise<unknown>>> = {
  append: (store) =>
    store.append('account-1', [{ id: randomUUID(), type: 'Happened', data: {}, metadata: {} }], NO_STREAM),
  read: (store) => collect(store.read('account-1')),
  subscribe: (store) =>
    collect(store.subscribe({ after: null, streamPrefix: 'account-', signal: AbortSignal.timeout(LIMIT_MS) })),
};

async function sentences(store: EventStore): Promise<Record<string, string>> {
  const told: Record<string, string> = {};
  for (const [name, call] of Object.entries(CALLS)) {
    const failure = await call(store).then(
      () => new Error('it was not refused'),
      (error: Error) => error,
    );
    expect([name, failure]).toEqual([name, expect.any(StoreRefused)]);
    told[name] = failure.message;
  }
  return told;
}

describe('a call that the server refuses', () => {
  it('for a right that the user lacks: the sentence names the stream and the right', async () => {
    const { append, read, subscribe } = await sentences(await secured({ user: '' }));
    expect(append).toMatch(/may not append to account-1: .*\$w/);
    expect(read).toMatch(/may not read account-1: .*\$r/);
    expect(subscribe).toMatch(/may not read \$all: .*\$acl\.\$r of \$all's metadata/);
  });

  it('for its password: the sentence says that the credentials are wrong, and nothing of rights', async () => {
    const text = 'EventStoreDB refused the credentials of EVENT_STORE_URL: wrong user or password';
    expect(await sentences(await secured({ user: 'admin:wrong@' }))).toEqual({
      append: text,
      read: text,
      subscribe: text,
    });
  });

  it('with a certificate that nobody vouches for: the sentence names tlsCaFile', async () => {
    for (const text of Object.values(await sentences(await secured({ isTrusted: false }))))
      expect(text).toMatch(/certificate.*tlsCaFile in EVENT_STORE_URL/);
  });
});

describe('a connection string', () => {
  const said = (url: string) => {
    try {
      closing.push(disconnect.bind(null, connect(url)));
    } catch (error) {
      return `${error}`;
    }
    return 'nothing';
  };
  it.each([
    ['localhost:2113?tls=False', /: it expects true or false at character 27$/],
    ['localhost:1:1', /: it expects , or \?key=value at character 19$/],
    ['localhost?keepAliveInterval=-3', /: Invalid keepAliveInterval "-3"/],
    ['localhost?tls=true&tlsCaFile=/nowhere.pem', /: Failed to load certificate file. File was not found.$/],
    [`admin:${PASSWORD}%@localhost`, /: URI malformed$/],
  ])('that the client refuses says why, without its password: %s', (rest, reason) => {
    expect(said(`esdb://${rest}`)).toMatch(/^NoConnectionString: EVENT_STORE_URL is not a connection string /);
    expect(said(`esdb://${rest}`)).toMatch(reason);
    expect(said(`esdb://${rest}`)).not.toContain(PASSWORD);
  });
});
