/** The projection commands on the test server: what goes wrong at a server, what they say of it, and what mends it. */
import { randomBytes, randomUUID } from 'node:crypto';
import { connect, disconnect } from '../../src/adapters/eventstoredb/client.js';
import type { EventStore } from '../../src/ports/event-store.js';
import { enveloped } from '../../src/webhooks/envelope.js';
import { accountStream } from '../../src/webhooks/events.js';
import type { EventStoreOptions } from '../services/eventstoredb/event-store-server.js';
import { startEventStore } from '../services/eventstoredb/event-store-server.js';
import { VERSIONS } from '../services/eventstoredb/own-server.js';
import { commandLine } from '../support/clients/in-process-cli.js';
import type { Settings } from '../support/clients/service.js';
import { eventually } from '../support/clocks/eventually.js';
import { added, CONTEXT, registered } from '../support/generators/webhook-samples.js';
import { openEventStoreDb } from '../support/scenes/eventstoredb-subjects.js';
import { temporaryDirectory } from '../support/scenes/temporary-directory.js';

const NAME = 'account-webhooks';
const OTHER_SOURCE = `fromCategory('account').foreachStream().when({ $init: () => ({ other: 0 }), WebhookAdded: (state) => { state.other += 1; } })`;
/** What a new user installs; test/read-model/server-projections.test.ts runs on a 23.10. */
const LATEST = VERSIONS.at(-1) ?? VERSIONS[0];
const COMMANDS = ['deploy', 'status', 'rebuild', 'verify'];

const ends: (() => unknown)[] = [];
let settings: Settings;
let client: ReturnType<typeof connect>;
let store: EventStore;

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function start(options: EventStoreOptions = {}) {
  const server = await startEventStore({ version: LATEST, ...options });
  ends.push(() => server.stop());
  await server.projectionsStarted;
  const folder = temporaryDirectory();
  ends.push(() => folder.remove());
  settings = {
    EVENT_STORE_URL: server.url,
    MASTER_KEY: randomBytes(32).toString('base64'),
    DATA_DIR: folder.path,
    LOG_LEVEL: 'silent',
  };
  client = connect(server.url);
  ends.push(() => disconnect(client));
  store = openEventStoreDb(server.url);
  ends.push(() => store.close());
  return server;
}

const projections = (...args: string[]) => commandLine(settings, ['projections', ...args]);
const lines = (text: string) => text.split('\n').filter(Boolean);
const parsed = (text: string): Record<string, unknown>[] => lines(text).map((line) => JSON.parse(line));
const stateOf = (accountId: number) => client.getProjectionState(NAME, { partition: accountStream(accountId) });
const append = (accountId: number) =>
  store.append(accountStream(accountId), enveloped([registered(accountId), added(7)], CONTEXT, randomUUID), -1);

/** Fails with one line on stderr, besides what was said on the way. */
async function fails(...args: string[]): Promise<string> {
  const { code, stderr } = await projections(...args);
  expect({ args, code }).toEqual({ args, code: 1 });
  return lines(stderr).at(-1) ?? '';
}

describe('where projections are deployed', () => {
  beforeEach(async () => {
    await start();
    for (const id of [1, 2, 3]) await append(id);
    expect(await projections('deploy')).toMatchObject({ code: 0 });
  });

  const statusOf = async () => (await client.getProjectionStatus(NAME)).status;
  const isWell = async () => {
    await eventually(async () => (await projections('verify')).code === 0);
    expect(await stateOf(1)).toMatchObject({ accountId: 1, webhooks: [{ id: 7 }] });
    expect(await projections('status')).toMatchObject({ code: 0 });
  };

  test('they are well: deploy leaves them alone, status and verify say nothing else', async () => {
    await isWell();
    const { stdout } = await projections('deploy', '--json');
    expect(parsed(stdout)).toEqual([
      { projection: NAME, outcome: 'unchanged', cause: null },
      { projection: 'account-credentials', outcome: 'unchanged', cause: null },
    ]);
    const status = parsed((await projections('status', '--json')).stdout);
    expect(status[0]).toEqual({
      projection: NAME,
      ...{ status: 'Running', reason: '', progress: 100, source: 'own', trouble: null },
    });
  });

  describe('and somebody gave the server another source', () => {
    beforeEach(async () => {
      await client.updateProjection(NAME, OTHER_SOURCE);
      await client.resetProjection(NAME);
      await eventually(async () => JSON.stringify(await stateOf(3)) === '{"other":1}');
    });

    test.each(['status', 'verify'])('%s says so, with what mends it', async (command) => {
      expect(await fails(command)).toBe(
        `account-webhooks: ${NAME} runs with another source than this program's: run account-webhooks projections deploy`,
      );
    });

    test('deploy puts its own there, folds from the beginning, and tells why', async () => {
      const { code, stdout } = await projections('deploy', '--json');
      expect({ code, first: parsed(stdout)[0] }).toEqual({
        code: 0,
        first: { projection: NAME, outcome: 'rebuilt', cause: 'the server ran another source' },
      });
      await isWell();
    });
  });

  test.each([
    ['throws', `fromCategory('account').foreachStream().when({ WebhookAdded: () => { throw new Error('broken'); } })`],
    ['does not compile', `fromCategory(`],
  ])('and one is Faulted, by a source that %s: status and verify say so, deploy mends it', async (_, source) => {
    await client.updateProjection(NAME, source);
    await append(5);
    await eventually(() =>
      statusOf().then(
        (says) => says.includes('Fault'),
        () => true,
      ),
    );
    const faulted = `account-webhooks: ${NAME} is Faulted`;
    for (const command of ['status', 'verify']) {
      const says = await fails(command);
      expect(says).toMatch(/: run account-webhooks projections deploy$/);
      expect(says.slice(0, faulted.length)).toBe(faulted);
    }
    const { stdout } = await projections('deploy', '--json');
    expect(parsed(stdout)[0]).toEqual({ projection: NAME, outcome: 'rebuilt', cause: 'the projection was faulted' });
    await isWell();
  });

  test('and $by_category is stopped: each command says so, and what to do', async () => {
    await client.disableProjection('$by_category');
    for (const command of COMMANDS) {
      expect(await fails(command)).toBe(
        'account-webhooks: $by_category is stopped at the server, and no projection advances without it: ' +
          'enable it there, or start the server with --start-standard-projections',
      );
    }
    expect(await stateOf(1)).toMatchObject({ accountId: 1 });
  });
});

test('projections are off: each command says so, and what to do', async () => {
  await start({ runProjections: 'none' });
  for (const command of COMMANDS) {
    expect(await fails(command)).toBe(
      'account-webhooks: projections are off at the server: start it with --run-projections=All --start-standard-projections',
    );
  }
});
