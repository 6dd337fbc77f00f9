import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, disconnect } from '../../src/adapters/eventstoredb/client.js';
import { runChecks } from '../../src/doctor/check.js';
import { storeChecks } from '../../src/doctor/store-checks.js';
import { checkStreamMetadata } from '../../src/doctor/stream-metadata.js';
import { type EventStore, NO_STREAM } from '../../src/ports/event-store.js';
import { readConfig } from '../../src/settings/read-config.js';
import { Users } from '../services/eventstoredb/access.js';
import { startEventStore } from '../services/eventstoredb/event-store-server.js';
import { openEventStoreDb } from '../support/scenes/eventstoredb-subjects.js';
import { temporaryDirectory } from '../support/scenes/temporary-directory.js';
import { certificateFor, testAuthority } from '../support/servers/certificates.js';

const HIDES = 'warn stream metadata hides events of accounts, and a scavenge removes them: ';
const GOOD = 'ok no stream of an account has metadata that hides events';
type Written = readonly (readonly [stream: string, data: Readonly<Record<string, unknown>>])[];

/** A store whose metadata streams contain these events. */
function storeWith(written: Written): Pick<EventStore, 'subscribe'> {
  return {
    async *subscribe({ streamPrefix }) {
      const events = written
        .filter(([stream]) => `$$${stream}`.startsWith(streamPrefix))
        .map(([stream, data]) => ({ stream: `$$${stream}`, data }) as never);
      yield { events, position: '', caughtUp: true };
    },
  };
}

const many: Written = Array.from({ length: 7 }, (_, n) => [`account-${n + 1}`, { $maxCount: 1 }]);

describe('stream metadata', () => {
  it.each<[Written, string]>([
    [
      [
        ['account-1', { $acl: {}, $maxAge: -1 }],
        ['orders-1', { $maxCount: 10 }],
      ],
      GOOD,
    ],
    [
      [
        ['account-1', { $maxAge: 3_600 }],
        ['account-1', {}],
      ],
      GOOD,
    ],
    [[['$all', { $maxAge: 3_600 }]], `${HIDES}$all ($maxAge 3600)`],
    [
      [
        ['account-1', { $maxAge: 3_600, $maxCount: 10 }],
        ['account-2', { $tb: 1 }],
        ['account-3', { $tb: 2 ** 63 }],
      ],
      `${HIDES}account-1 ($maxAge 3600, $maxCount 10), account-2 ($tb 1), account-3 (deleted)`,
    ],
    [many, `${HIDES}${[1, 2, 3, 4, 5].map((n) => `account-${n} ($maxCount 1)`).join(', ')}, and 2 others`],
  ])('%j is reported as: %s', async (written, expected) => {
    const findings = await checkStreamMetadata(storeWith(written));
    expect(findings.map(({ verdict, says }) => `${verdict} ${says}`)).toEqual([expected]);
  });
});

describe('doctor, with the permissions of the service', () => {
  let folder: ReturnType<typeof temporaryDirectory>;
  let server: Awaited<ReturnType<typeof startEventStore>>;
  let admin: ReturnType<typeof connect>;
  let store: EventStore;
  let url: string;

  beforeAll(async () => {
    folder = temporaryDirectory();
    writeFileSync(join(folder.path, 'ca.pem'), (await testAuthority()).cert);
    const user = (username: string, group: string) => ({ username, password: 'planted', groups: [group] });
    const users = new Users(user('admin', '$admins'), user('webhooks', 'webhooks'));
    server = await startEventStore({ tls: await certificateFor(), users });
    const urlFor = (name: string) =>
      `esdb://${name}:planted@localhost:${server.port}?tls=true&tlsCaFile=${join(folder.path, 'ca.pem')}`;
    url = urlFor('webhooks');
    admin = connect(urlFor('admin'));
    await admin.setStreamMetadata('$all', { acl: { readRoles: ['$admins', 'webhooks'] } });
    store = openEventStoreDb(url);
    for (const accountId of [1, 2, 3]) {
      const event = { id: randomUUID(), type: 'AccountRegistered', data: { accountId }, metadata: {} };
      await store.append(`account-${accountId}`, [event], NO_STREAM);
    }
  });

  afterAll(async () => {
    await store.close();
    await disconnect(admin);
    await server.stop();
    folder.remove();
  });

  /** @param isServing whether a service that uses the store runs: it does not read metadata either */
  async function runDoctor(isServing: boolean): Promise<string[]> {
    const settings = {
      DATA_DIR: folder.path,
      EVENT_STORE_URL: url,
      MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    };
    const checks = storeChecks(readConfig(settings), async () => ({ store, projections: null }), isServing);
    const findings = await runChecks(
      checks.filter(({ name }) => name === 'stream metadata'),
      60_000,
    );
    return findings.map(({ verdict, says }) => `${verdict} ${says}`);
  }

  it.each([true, false])('warns of a limit that has hidden nothing yet (service running: %s)', async (isServing) => {
    await admin.setStreamMetadata('account-1', { acl: { readRoles: ['webhooks'] } });
    await admin.setStreamMetadata('account-2', {});
    expect(await runDoctor(isServing)).toEqual([GOOD]);
    await admin.setStreamMetadata('account-2', { maxAge: 3_600 });
    expect(await runDoctor(isServing)).toEqual([`${HIDES}account-2 ($maxAge 3600)`]);
  });

  it('warns of a deleted stream', async () => {
    await admin.deleteStream('account-3');
    expect(await runDoctor(true)).toEqual([`${HIDES}account-2 ($maxAge 3600), account-3 (deleted)`]);
  });
});
