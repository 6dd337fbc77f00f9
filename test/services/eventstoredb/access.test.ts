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
const DENIED = {
  kind: 'AccessDeniedError',
  type: 'access-denied',
  code: 7,
  message: '7 PERMISSION_DENIED: Access Denied',
};
const UNAUTHENTICATED = { kind: 'AccessDeniedError', type: 'access-denied', code: 16 };
const PASSWORD = 'planted';
const filter = streamNameFilter({ prefixes: ['account-'] });

needsTestServer(() => {
  let server: OwnServer;
  let users: Users;
  let ca: string;
  let admin: EventStoreDBClient;
  let service: EventStoreDBClient;
  let as: (username: string, password?: string) => EventStoreDBClient;

  beforeEach(async () => {
    const { path, remove } = temporaryDirectory();
    onEnd(async () => remove());
    ca = join(path, 'ca.pem');
    writeFileSync(ca, (await testAuthority()).cert);
    users = new Users(
      { username: 'admin', password: PASSWORD, groups: ['$admins'] },
      { username: 'ops', password: PASSWORD, groups: ['$ops'] },
      { username: 'service', password: PASSWORD, groups: ['webhooks'] },
    );
    server = await open({ tls: await certificateFor(), users });
    as = (username, password = PASSWORD) =>
      connect(`esdb://${username}:${password}@localhost:${server.port}?tls=true&tlsCAFile=${ca}`);
    [admin, service] = [as('admin'), as('service')];
    await service.appendToStream('account-1', event(1));
  });

  const readAll = (client: EventStoreDBClient) => collect(client.readAll({ maxCount: 1 }));
  const follow = (client: EventStoreDBClient) => collect(client.subscribeToAll({ filter }), 1);
  const plainly = (password = PASSWORD) => ({ credentials: { username: 'service', password } });
  const readableBy = (...readRoles: string[]) => admin.setStreamMetadata('$all', { acl: { readRoles } });

  test('streams of ours are open to every user', async () => {
    expect(numbers(await collect(service.readStream('account-1')))).toEqual([1]);
    await service.appendToStream('account-1', event(2));
  });

  test("$all is read by $admins only, unless its metadata's acl says otherwise", async () => {
    expect(await failure(readAll(service))).toEqual(DENIED);
    expect(await failure(follow(service))).toEqual(DENIED);
    expect(await failure(readAll(as('ops')))).toEqual(DENIED);
    expect(await readAll(admin)).toHaveLength(1);
    await readableBy('$admins', 'webhooks');
    expect(await readAll(service)).toHaveLength(1);
    expect(numbers(await follow(service))).toEqual([1]);
    expect(await failure(readAll(as('ops')))).toEqual(DENIED);
  });

  test('who may not write its metadata may not open it', async () => {
    expect(await failure(service.setStreamMetadata('$all', { acl: { readRoles: ['service'] } }))).toEqual(DENIED);
    expect(await failure(service.getStreamMetadata('$all'))).toEqual(DENIED);
    expect(await failure(readAll(service))).toEqual(DENIED);
  });

  test('streams of the system are for $admins and $ops; what projections write is read by every user', async () => {
    const stream = '$projections-counts';
    await admin.appendToStream(stream, event(1));
    expect(await failure(collect(service.readStream(stream)))).toEqual(DENIED);
    expect(await failure(service.appendToStream(stream, event(2)))).toEqual(DENIED);
    for (const client of [admin, as('ops')]) expect(await collect(client.readStream(stream))).toHaveLength(1);
    expect(await collect(service.readStream('$ce-account'))).toHaveLength(1);
    await admin.appendToStream('$projections-counts-account-1-result', event(3));
    expect(numbers(await collect(service.readStream('$projections-counts-account-1-result')))).toEqual([3]);
  });

  test("a stream's own acl counts for reads, writes and deletions", async () => {
    await admin.setStreamMetadata('account-1', { acl: { readRoles: ['ops'], writeRoles: ['$ops'], deleteRoles: [] } });
    expect(await failure(collect(service.readStream('account-1')))).toEqual(DENIED);
    expect(await failure(service.appendToStream('account-1', event(2)))).toEqual(DENIED);
    expect(await failure(as('ops').deleteStream('account-1'))).toEqual(DENIED);
    expect(numbers(await collect(as('ops').readStream('account-1')))).toEqual([1]);
    await as('ops').appendToStream('account-1', event(2));
  });

  describe('another thing than a missing right', () => {
    test.each([
      ['a wrong password', 'service:guessed@', 16],
      ['no password', '', 7],
    ])('is %s', async (_, login, code) => {
      const stranger = connect(`esdb://${login}localhost:${server.port}?tls=true&tlsCAFile=${ca}`);
      const calls = [readAll(stranger), follow(stranger), stranger.appendToStream('account-1', event(2))];
      const denied = { kind: 'AccessDeniedError', type: 'access-denied', code };
      for (const error of await Promise.all([...calls, stranger.listProjections()].map(failure)))
        expect(error).toMatchObject(denied);
    });

    test('is a certificate that is not trusted: the server is unavailable', async () => {
      const stranger = connect(`esdb://service:${PASSWORD}@localhost:${server.port}?tls=true`);
      const expected = { type: 'unavailable', message: expect.stringMatching(/certificate/) };
      expect(await failure(collect(stranger.readStream('account-1')))).toMatchObject(expected);
    });

    test('is a password that changes: the next append is refused, subscriptions that are open go on', async () => {
      await readableBy('$admins', 'webhooks');
      const subscription = service.subscribeToAll({ filter });
      const events = collect(subscription, 2);
      await once(subscription, 'caughtUp');
      users.setPassword('service', 'changed');
      expect(await failure(service.appendToStream('account-1', event(2)))).toMatchObject(UNAUTHENTICATED);
      expect(await failure(follow(service))).toMatchObject(UNAUTHENTICATED);
      await service.appendToStream('account-1', event(3), plainly('changed'));
      expect(numbers(await events)).toEqual([1, 3]);
    });
  });
});
