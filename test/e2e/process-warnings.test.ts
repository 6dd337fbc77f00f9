/** What Node warns of in a running service is a line of its log: a collector of logs takes nothing but JSON. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startEventStore } from '../services/eventstoredb/event-store-server.js';
import { certificateFor, testAuthority } from '../support/certificates.js';
import { eventually } from '../support/eventually.js';
import { type Settings, serve, strayLines } from '../support/service.js';
import { temporaryDirectory } from '../support/temporary-directory.js';

const PASSWORD = 'planted-secret';
const DEPRECATED_NAME = 'DEP0123';

let settings: Settings;
const closing: (() => unknown)[] = [];

beforeAll(async () => {
  const folder = temporaryDirectory();
  closing.push(folder.remove);
  const ca = join(folder.path, 'ca.pem');
  writeFileSync(ca, (await testAuthority()).cert);
  const credentials = { username: 'admin', password: PASSWORD };
  const server = await startEventStore({ tls: await certificateFor(), credentials });
  closing.push(() => server.stop());
  const EVENT_STORE_URL = `esdb://admin:${PASSWORD}@127.0.0.1:${server.port}?tls=true&tlsCaFile=${ca}&unheardOf=yes`;
  settings = {
    DATA_DIR: join(folder.path, 'data'),
    EVENT_STORE_URL,
    MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  };
});

afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

test('an option that the client ignores is one line; an address instead of a name over TLS is none, and serves', async () => {
  const service = await serve(settings);
  const warnings = () =>
    service
      .log()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ code }) => code === DEPRECATED_NAME || code === 'Warning');
  try {
    await eventually(() => warnings().length > 0, { message: 'no line tells of the warning' });
  } finally {
    await service.stop('SIGTERM');
  }
  expect(strayLines(service.log())).toEqual([]);
  expect(warnings()).toEqual([
    expect.objectContaining({ level: 40, msg: expect.stringMatching(/^EVENT_STORE_URL: .*unheardOf/) }),
  ]);
  expect(service.log()).not.toContain(PASSWORD);
});
