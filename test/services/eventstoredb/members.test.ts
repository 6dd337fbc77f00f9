/** A cluster of three: who leads, who forwards, and what a member says that reaches no other. */
import { once } from 'node:events';
import { type EventStoreDBClient, streamNameFilter } from '@eventstore/db-client';
import gossipService from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import type { ClusterInfo } from '@eventstore/db-client/generated/gossip_pb.js';
import { credentials } from '@grpc/grpc-js';
import { eventually } from '../../support/eventually.js';
import { type EventStoreCluster, startEventStoreCluster } from './cluster.js';
import type { EventStoreServer } from './event-store-server.js';
import { collect, event, failure, harness, numbers } from './harness.js';
import { gossip, shared } from './messages.js';
import { needsTestServer } from './own-server.js';

const FORWARDING_TIMEOUT_MS = 50;
const filter = streamNameFilter({ prefixes: ['account-'] });

const { client: connect, onEnd } = harness();
let cluster: EventStoreCluster;
let leader: EventStoreServer;
let follower: EventStoreServer;
let third: EventStoreServer;

/** As each member sees it: `leader`, `follower` or `unknown`; a dash before it: not alive. */
async function gossipOf({ port }: EventStoreServer): Promise<string[]> {
  const client = new gossipService.GossipClient(`127.0.0.1:${port}`, credentials.createInsecure());
  const names = Object.entries(gossip.MemberInfo.VNodeState);
  const nameOf = (state: number) => names.find(([, number]) => number === state)?.[0].toLowerCase();
  try {
    const info = await new Promise<ClusterInfo>((resolve, reject) => {
      client.read(new shared.Empty(), (error, answer) => (error ? reject(error) : resolve(answer)));
    });
    return info.getMembersList().map((each) => `${each.getIsAlive() ? '' : '-'}${nameOf(each.getState())}`);
  } finally {
    client.close();
  }
}

needsTestServer(() => {
  beforeEach(async () => {
    cluster = await startEventStoreCluster(3, { forwardingTimeoutMs: FORWARDING_TIMEOUT_MS });
    onEnd(() => cluster.stop());
    [leader, follower, third] = cluster.members as [EventStoreServer, EventStoreServer, EventStoreServer];
  });

  const at = (member: EventStoreServer): EventStoreDBClient => connect(member.url);
  const read = async (member: EventStoreServer, options = {}) =>
    numbers(await collect(at(member).readStream('account-1', options)));
  const append = (client: EventStoreDBClient, number: number, options = {}) =>
    client.appendToStream('account-1', event(number), options);

  describe('a follower', () => {
    test('forwards appends to the leader, and has what the leader has', async () => {
      await append(at(follower), 1);
      await append(at(leader), 2);
      expect(await read(third)).toEqual([1, 2]);
      expect(await gossipOf(third)).toEqual(['leader', 'follower', 'follower']);
    });

    test.each([
      ['an append', (client: EventStoreDBClient) => append(client, 1, { requiresLeader: true })],
      ['a deletion', (client: EventStoreDBClient) => client.deleteStream('account-1', { requiresLeader: true })],
      ['a read', (client: EventStoreDBClient) => collect(client.readStream('account-1', { requiresLeader: true }))],
      ['a read of $all', (client: EventStoreDBClient) => collect(client.readAll({ requiresLeader: true }))],
      ['a subscription', (client: EventStoreDBClient) => collect(client.subscribeToAll({ requiresLeader: true }))],
    ])('answers %s that requires the leader with its address, and the client goes there', async (_, call) => {
      await append(at(leader), 0);
      const client = at(follower);
      await expect(call(client)).rejects.toMatchObject({
        type: 'not-leader',
        leader: { address: '127.0.0.1', port: leader.port },
      });
      await append(client, 5, { requiresLeader: true });
      expect(await read(leader)).toEqual([0, 5]);
    });
  });

  describe('a member that is cut off', () => {
    beforeEach(async () => {
      await append(at(leader), 1);
      cluster.cutOff(follower);
      await append(at(leader), 2);
    });

    test('reads from the log it has, and the others read theirs', async () => {
      expect(await read(follower)).toEqual([1]);
      expect(await read(third)).toEqual([1, 2]);
    });

    test('gives up appends and deletions that it forwarded, and nothing is written', async () => {
      const timeout = { type: 'timeout', code: 10, message: '10 ABORTED: Operation timed out: Forwarding timeout' };
      expect(await failure(append(at(follower), 3))).toMatchObject(timeout);
      expect(await failure(at(follower).deleteStream('account-1'))).toMatchObject(timeout);
      cluster.rejoin(follower);
      expect(await read(follower)).toEqual([1, 2]);
    });

    test('names the leader it knew to who requires the leader, and the next try finds it', async () => {
      const client = at(follower);
      expect(await failure(append(client, 3, { requiresLeader: true }))).toMatchObject({
        type: 'not-leader',
      });
      await append(client, 3, { requiresLeader: true });
      expect(await read(third)).toEqual([1, 2, 3]);
    });

    test('keeps its subscriptions open and silent, until it is back', async () => {
      const subscription = at(follower).subscribeToAll({ filter });
      const seen: unknown[] = [];
      subscription.on('data', (each) => seen.push(...numbers([each])));
      await once(subscription, 'caughtUp');
      const heard = collect(at(third).subscribeToAll({ filter }), 3);
      await append(at(leader), 3);
      expect(numbers(await heard)).toEqual([1, 2, 3]);
      expect(await read(follower)).toEqual([1]);
      expect(seen).toEqual([1]);
      cluster.rejoin(follower);
      await eventually(() => seen.length === 3);
      await append(at(leader), 4);
      await eventually(() => seen.length === 4);
      expect(seen).toEqual([1, 2, 3, 4]);
      await subscription.unsubscribe();
    });

    test('sees nobody else alive, and is seen by nobody', async () => {
      expect(await gossipOf(follower)).toEqual(['-leader', 'follower', '-follower']);
      expect(await gossipOf(third)).toEqual(['leader', '-follower', 'follower']);
    });

    test('leads no more if it was the leader; another one does when it is elected', async () => {
      cluster.rejoin(follower);
      cluster.cutOff(leader);
      expect(await failure(collect(at(leader).readStream('account-1', { requiresLeader: true })))).toMatchObject({
        type: 'unavailable',
      });
      expect(await failure(append(at(third), 3))).toMatchObject({ type: 'timeout' });
      cluster.elect(follower);
      await append(at(third), 3);
      expect(await read(leader)).toEqual([1, 2]);
      cluster.rejoin(leader);
      expect(await read(leader)).toEqual([1, 2, 3]);
      expect(await gossipOf(leader)).toEqual(['follower', 'leader', 'follower']);
    });
  });

  test('a client asks again who leads when the leader is gone', async () => {
    const client = connect(`${cluster.url}&discoveryInterval=10`);
    await append(client, 1);
    await cluster.kill(leader);
    await failure(append(client, 2));
    cluster.elect(follower);
    await eventually(async () => (await failure(append(client, 3))).kind === undefined);
    expect(await read(third)).toEqual([1, 3]);
  });

  describe('a majority that is away', () => {
    test('leaves a leader that leads no more: appends fail, reads are answered, gossip shows no leader', async () => {
      await append(at(leader), 1);
      await Promise.all([cluster.kill(follower), cluster.kill(third)]);
      const notReady = { type: 'unavailable', message: expect.stringContaining('Server Is Not Ready') };
      expect(await failure(append(at(leader), 2))).toMatchObject(notReady);
      expect(await failure(read(leader, { requiresLeader: true }))).toMatchObject(notReady);
      expect(await read(leader)).toEqual([1]);
      expect((await gossipOf(leader))[0]).toBe('unknown');
    });

    test('leaves a follower that forwards in vain, until there is a leader', async () => {
      const client = at(third);
      await append(client, 1);
      await Promise.all([cluster.kill(leader), cluster.kill(follower)]);
      expect(await failure(append(client, 2))).toMatchObject({ type: 'timeout', code: 10 });
      expect(await gossipOf(third)).toEqual(['-unknown', '-follower', 'follower']);
      cluster.elect(null);
      await cluster.revive();
      expect(await gossipOf(third)).toEqual(['unknown', 'unknown', 'unknown']);
      expect(await failure(append(client, 2))).toMatchObject({ type: 'unavailable' });
      cluster.elect(third);
      await eventually(async () => (await failure(append(client, 3))).kind === undefined);
      expect(await read(third)).toEqual([1, 3]);
    });
  });
});
