import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, disconnect } from '../../src/adapters/eventstoredb/client.js';
import { accountStreamMetadata, accountsRead } from '../../src/doctor/store-checks.js';
import { type EventStore, NO_STREAM } from '../../src/ports/event-store.js';
import { foldStored } from '../../src/read-model/stored-events.js';
import type { AccountState } from '../../src/webhooks/state.js';
import { Users } from '../services/eventstoredb/access.js';
import { startEventStore } from '../services/eventstoredb/event-store-server.js';
import { certificateFor, testAuthority } from '../support/certificates.js';
import { openEventStoreDb } from '../support/eventstoredb-subjects.js';
import { PROJECTION } from '../support/projection-host-fixture.js';
import { temporaryDirectory } from '../support/temporary-directory.js';

const PASSWORD = 'planted';
const WELL = [{ verdict: 'ok', says: 'no account has events that its metadata hides', todo: null }];

const ends: (() => unknown)[] = [];
let admin: ReturnType<typeof connect>;
/** As the user and with the rights of docs/operations.md. */
let store: EventStore;

beforeEach(async () => {
  const { path, remove } = temporaryDirectory();
  ends.push(remove);
  writeFileSync(join(path, 'ca.pem'), (await testAuthority()).cert);
  const users = new Users(
    { username: 'admin', password: PASSWORD, groups: ['$admins'] },
    { username: 'webhooks', password: PASSWORD, groups: ['webhooks'] },
  );
  const server = await startEventStore({ tls: await certificateFor(), users });
  ends.push(server.stop);
  const urlOf = (user: string) =>
    `esdb://${user}:${PASSWORD}@localhost:${server.port}?tls=true&tlsCaFile=${join(path, 'ca.pem')}`;
  admin = connect(urlOf('admin'));
  ends.push(() => disconnect(admin));
  await admin.setStreamMetadata('$all', { acl: { readRoles: ['$admins', 'webhooks'] } });
  store = openEventStoreDb(urlOf('webhooks'));
  ends.push(() => store.close());
  for (const id of [1, 2, 3]) {
    const event = { id: randomUUID(), type: 'AccountRegistered', data: { accountId: id }, metadata: {} };
    await store.append(`account-${id}`, [event], NO_STREAM);
  }
});

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const says = async () =>
  (await accountStreamMetadata({ store })).map(({ verdict, says: text }) => `${verdict} ${text}`);

it('accounts without limits are well, whatever other streams have', async () => {
  await admin.setStreamMetadata('account-1', { acl: { readRoles: ['webhooks'] }, maxAge: -1 });
  await admin.setStreamMetadata('orders-1', { maxCount: 10 });
  expect(await accountStreamMetadata({ store })).toEqual(WELL);
});

it('$maxAge, $maxCount, $tb and a deletion are named with their stream and the remedy', async () => {
  await admin.setStreamMetadata('account-1', { maxAge: 3_600, maxCount: 10 });
  await admin.setStreamMetadata('account-2', { truncateBefore: 1 });
  await admin.deleteStream('account-3');
  const [found, ...others] = await accountStreamMetadata({ store });
  expect(others).toEqual([]);
  expect(found).toEqual({
    verdict: 'warn',
    says:
      'metadata hides events of accounts, which a scavenge removes: ' +
      'account-1 ($maxAge 3600, $maxCount 10), account-2 ($tb 1), account-3 (deleted)',
    todo: expect.stringMatching(/remove \$maxAge.*metadata without \$tb twice/),
  });
});

it('the last metadata of a stream counts', async () => {
  await admin.setStreamMetadata('account-1', { maxAge: 3_600 });
  await admin.setStreamMetadata('account-1', {});
  expect(await accountStreamMetadata({ store })).toEqual(WELL);
});

it('limits of $all are named', async () => {
  await admin.setStreamMetadata('$all', { acl: { readRoles: ['$admins', 'webhooks'] }, maxAge: 3_600 });
  expect(await says()).toEqual([
    'warn metadata hides events of accounts, which a scavenge removes: $all ($maxAge 3600)',
  ]);
});

it('of many the first five are named, and how many others there are', async () => {
  for (let id = 1; id <= 7; id += 1) await admin.setStreamMetadata(`account-${id}`, { maxCount: 1 });
  expect((await says())[0]).toMatch(/account-5 \(\$maxCount 1\), and 2 others$/);
});

it('an account whose stream is hidden is one that the service sets aside', async () => {
  await admin.deleteStream('account-1');
  await admin.setStreamMetadata('account-2', { acl: { readRoles: ['webhooks'] } });
  expect(accountsRead(await foldStored<AccountState>(store, PROJECTION))).toEqual([
    {
      verdict: 'FAIL',
      says: 'account 1 is set aside: its stream cannot be read: it was deleted',
      todo: expect.stringMatching(/undo what hides its events .*dead-letters replay/),
    },
  ]);
});
