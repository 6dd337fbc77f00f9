/** Clusters, TLS and credentials: a program that starts one insecure node has none of them. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { certificateFor, testAuthority } from '../../support/certificates.js';
import { eventually } from '../../support/eventually.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';
import { startEventStoreCluster } from './cluster.js';
import { collect, event, failure, harness, numbers } from './harness.js';
import { needsTestServer } from './own-server.js';

const { start, client: connect, onEnd } = harness();

needsTestServer(() => {
  describe('a cluster', () => {
    test('is asked who leads, and again when the leader is gone', async () => {
      const cluster = await startEventStoreCluster();
      onEnd(() => cluster.stop());
      const client = connect(`${cluster.url}&discoveryInterval=10`);
      await client.appendToStream('a', event(1));
      const [, next] = cluster.members;
      await cluster.kill(cluster.leader);
      await failure(client.appendToStream('a', event(2)));
      cluster.elect(next as typeof cluster.leader);
      await eventually(async () => (await failure(client.appendToStream('a', event(3)))).kind === undefined);
      expect(numbers(await collect(client.readStream('a')))).toEqual([1, 3]);
    });

    test('names the leader to who insists on it', async () => {
      const cluster = await startEventStoreCluster();
      onEnd(() => cluster.stop());
      const follower = connect(cluster.members[1]?.url ?? '');
      const refused = await failure(follower.appendToStream('a', event(1), { requiresLeader: true }));
      expect(refused).toMatchObject({ type: 'not-leader' });
      await follower.appendToStream('a', event(2), { requiresLeader: true });
      expect(numbers(await collect(follower.readStream('a')))).toEqual([2]);
    });
  });

  describe('over TLS', () => {
    const credentials = { username: 'ops', password: 'secret' };

    async function startSecure() {
      const { path, remove } = temporaryDirectory();
      onEnd(async () => remove());
      const ca = join(path, 'ca.pem');
      writeFileSync(ca, (await testAuthority()).cert);
      const { port } = await start({ tls: await certificateFor(), credentials });
      return (login: string, trust = `&tlsCAFile=${ca}`) =>
        connect(`esdb://${login}localhost:${port}?tls=true${trust}`);
    }

    test('who knows the password may append and read', async () => {
      const client = (await startSecure())('ops:secret@');
      await client.appendToStream('a', event(1));
      await client.appendToStream('a', event(2), { credentials });
      expect(numbers(await collect(client.readStream('a')))).toEqual([1, 2]);
    });

    test.each([
      ['a wrong password', 'ops:guess@', 16],
      ['no password', '', 7],
    ])('%s is denied', async (_, login, code) => {
      const client = (await startSecure())(login);
      const denied = { kind: 'AccessDeniedError', type: 'access-denied', code };
      expect(await failure(client.appendToStream('a', event(1)))).toMatchObject(denied);
      expect(await failure(collect(client.readStream('a')))).toMatchObject(denied);
      expect(await failure(client.listProjections())).toMatchObject(denied);
    });

    test('a client that does not trust the certificate finds the server unavailable', async () => {
      const client = (await startSecure())('ops:secret@', '');
      const error = await failure(collect(client.readStream('a')));
      expect(error).toMatchObject({ type: 'unavailable', message: expect.stringMatching(/certificate/) });
    });
  });
});
