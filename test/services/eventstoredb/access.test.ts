/** Rights by stream. The client sends credentials over TLS only. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type EventStoreDBClient, streamNameFilter } from '@eventstore/db-client';
import { certificateFor, testAuthority } from '../../support/certificates.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';
import { Users } from './access.js';
import { collect, event, failure, harness, numbers } from './harness.js';
import { needsTestServer, type OwnServer } from './own-server.js';

const { open, client: connect, onEnd } = harness();
const ACCESS_DENIED = { kind: 'AccessDeniedError', type: 'access-denied' };
const DENIED = { ...ACCESS_DENIED, code: 7, message: '7 PERMISSION_DENIED: Access Denied' };
const PASSWORD = 'planted';
const filter = streamNameFilter({ prefixes: ['account-'] });

needsTestServer(() => {
  let server: OwnServer;
  let users: Users;
  let admin: EventStoreDBClient;
  let service: EventStoreDBClient;
  let as: (login: string) => EventStoreDBClient;

  beforeEach(async () => {
    const { path, remove } = temporaryDirectory();
    onEnd(async () => remove());
    const ca = join(path, 'ca.pem');
    writeFileSync(ca, (await testAuthority()).cert);
    const user = (username: string, group: string) => ({ username, password: PASSWORD, groups: [group] });
    users = new Users(user('admin', '$admins'), user('ops', '$ops'), user('service', 'webhooks'));
    server = await open({ tls: await certificateFor(), users });
    as = (login) => connect(`esdb://${login}localhost:${server.port}?tls=true&tlsCAFile=${ca}`);
    [admin, service] = [as(`admin:${PASSWORD}@`), as(`service:${PASSWORD}@`)];
    await service.appendToStream('account-1', event(1));
  });

  const readAll = (client: EventStoreDBClient) => collect(client.readAll({ maxCount: 1 }));
  const follow = (client: EventStoreDBClient) => collect(client.subscribeToAll({ filter }), 1);
  const readableBy = (...readRoles: string[]) => admin.setStreamMetadata('$all', { acl: { readRoles } });

  test("$all is read by $admins only, unless its metadata's acl says otherwise", async () => {
    for (const denied of [readAll(service), follow(service)]) expect(await failure(denied)).toEqual(DENIED);
    expect(await readAll(admin)).toHaveLength(1);
    await readableBy('$admins', 'webhooks');
    expect(await readAll(service)).toHaveLength(1);
    expect(numbers(await follow(service))).toEqual([1]);
  });

  test('streams of the system and their metadata are for $admins and $ops; projections are changed by them', async () => {
    const stream = '$projections-counts';
    await admin.appendToStream(stream, event(1));
    expect(await collect(as(`ops:${PASSWORD}@`).readStream(stream))).toHaveLength(1);
    const denied = [
      collect(service.readStream(stream)),
      service.appendToStream(stream, event(2)),
      service.setStreamMetadata('$all', { acl: { readRoles: ['service'] } }),
    ];
    for (const error of await Promise.all(denied.map(failure))) expect(error).toEqual(DENIED);
    expect(await collect(service.readStream('$ce-account'))).toHaveLength(1);
    const inWords = { type: 'unknown', message: expect.stringContaining('received NotAuthorized instead') };
    expect(await failure(service.createProjection('counts', 'fromCategory("account")'))).toMatchObject(inWords);
  });

  test("a stream's own acl counts for reads, writes and deletions", async () => {
    const ops = as(`ops:${PASSWORD}@`);
    await admin.setStreamMetadata('account-1', { acl: { readRoles: ['ops'], writeRoles: ['$ops'], deleteRoles: [] } });
    expect(await failure(collect(service.readStream('account-1')))).toEqual(DENIED);
    expect(await failure(service.appendToStream('account-1', event(2)))).toEqual(DENIED);
    expect(await failure(ops.deleteStream('account-1'))).toEqual(DENIED);
    expect(numbers(await collect(ops.readStream('account-1')))).toEqual([1]);
    await ops.appendToStream('account-1', event(2));
  });

  test.each([
    ['a wrong password', 'service:guessed@', 16],
    ['no password', '', 7],
  ])('%s is another code than a missing right', async (_, login, code) => {
    const stranger = as(login);
    const calls = [readAll(stranger), follow(stranger), stranger.appendToStream('account-1', event(2))];
    for (const error of await Promise.all([...calls, stranger.listProjections()].map(failure)))
      expect(error).toMatchObject({ ...ACCESS_DENIED, code });
  });

  test('a password that changes refuses the next calls; subscriptions that are open go on', async () => {
    await readableBy('$admins', 'webhooks');
    const subscription = service.subscribeToAll({ filter });
    const events = collect(subscription, 2);
    await once(subscription, 'caughtUp');
    users.setPassword('service', 'changed');
    const refused = { ...ACCESS_DENIED, code: 16 };
    expect(await failure(service.appendToStream('account-1', event(2)))).toMatchObject(refused);
    expect(await failure(follow(service))).toMatchObject(refused);
    await as('service:changed@').appendToStream('account-1', event(3));
    expect(numbers(await events)).toEqual([1, 3]);
  });
});
