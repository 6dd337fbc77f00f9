/** A cluster of three: who leads, who forwards, and what a member says that reaches no other. */
import { once } from 'node:events';
import { type EventStoreDBClient, streamNameFilter } from '@eventstore/db-client';
import { eventually } from '../../support/eventually.js';
import { type EventStoreCluster, startEventStoreCluster } from './cluster.js';
import type { EventStoreServer } from './event-store-server.js';
import { collect, event, failure, harness, numbers } from './harness.js';
import { needsTestServer } from './own-server.js';

const FORWARDING_TIMEOUT_MS = 50;
const LEADER = { requiresLeader: true };
const TIMEOUT = { type: 'timeout', code: 10, message: '10 ABORTED: Operation timed out: Forwarding timeout' };
const NOT_READY = { type: 'unavailable', message: expect.stringContaining('Server Is Not Ready') };
const filter = streamNameFilter({ prefixes: ['account-'] });

const { client: connect, onEnd } = harness();
let cluster: EventStoreCluster;
let leader: EventStoreServer;
let follower: EventStoreServer;
let third: EventStoreServer;

const at = (member: EventStoreServer): EventStoreDBClient => connect(member.url);
const read = async (member: EventStoreServer, options = {}) =>
  numbers(await collect(at(member).readStream('account-1', options)));
const append = (client: EventStoreDBClient, number: number, options = {}) =>
  client.appendToStream('account-1', event(number), options);

needsTestServer(() => {
  beforeEach(async () => {
    cluster = await startEventStoreCluster(3, { forwardingTimeoutMs: FORWARDING_TIMEOUT_MS });
    onEnd(() => cluster.stop());
    [leader, follower, third] = cluster.members as [EventStoreServer, EventStoreServer, EventStoreServer];
    await append(at(leader), 1);
  });

  test('a follower forwards appends to the leader, and has what the leader has', async () => {
    await append(at(follower), 2);
    expect(await read(third)).toEqual([1, 2]);
  });

  test.each<[string, (client: EventStoreDBClient) => Promise<unknown>]>([
    ['an append', (client) => append(client, 1, LEADER)],
    ['a deletion', (client) => client.deleteStream('account-1', LEADER)],
    ['a read', (client) => collect(client.readStream('account-1', LEADER))],
    ['a read of $all', (client) => collect(client.readAll(LEADER))],
    ['a subscription', (client) => collect(client.subscribeToAll(LEADER))],
  ])('a follower answers %s that requires the leader with its address, and the client goes there', async (_, call) => {
    const client = at(follower);
    const address = { address: '127.0.0.1', port: leader.port };
    await expect(call(client)).rejects.toMatchObject({ type: 'not-leader', leader: address });
    await append(client, 5, LEADER);
    expect(await read(leader)).toEqual([1, 5]);
  });

  describe('a member that is cut off', () => {
    beforeEach(async () => {
      cluster.cutOff(follower);
      await append(at(leader), 2);
    });

    test('reads from the log it has, and gives up appends and deletions that it forwarded', async () => {
      expect(await read(follower)).toEqual([1]);
      expect(await failure(append(at(follower), 3))).toMatchObject(TIMEOUT);
      expect(await failure(at(follower).deleteStream('account-1'))).toMatchObject(TIMEOUT);
      cluster.rejoin(follower);
      expect(await read(follower)).toEqual([1, 2]);
    });

    test('names the leader it knew to who requires the leader, and the next try finds it', async () => {
      const client = at(follower);
      expect(await failure(append(client, 3, LEADER))).toMatchObject({ type: 'not-leader' });
      await append(client, 3, LEADER);
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
      expect(seen).toEqual([1]);
      cluster.rejoin(follower);
      await eventually(() => seen.length === 3);
      expect(seen).toEqual([1, 2, 3]);
      await subscription.unsubscribe();
    });
  });

  test('a leader that is cut off leads no more; another one does when it is elected', async () => {
    cluster.cutOff(leader);
    expect(await failure(read(leader, LEADER))).toMatchObject(NOT_READY);
    expect(await failure(append(at(third), 2))).toMatchObject(TIMEOUT);
    cluster.elect(follower);
    await append(at(third), 2);
    expect(await read(leader)).toEqual([1]);
    cluster.rejoin(leader);
    expect(await read(leader)).toEqual([1, 2]);
  });

  test('without a majority a leader answers reads and no appends, until a member is elected again', async () => {
    const client = at(leader);
    await Promise.all([cluster.kill(follower), cluster.kill(third)]);
    expect(await failure(append(client, 2))).toMatchObject(NOT_READY);
    expect(await read(leader)).toEqual([1]);
    cluster.elect(null);
    await cluster.revive();
    expect(await failure(append(client, 2))).toMatchObject({ type: 'unavailable' });
    cluster.elect(leader);
    await eventually(async () => (await failure(append(client, 3))).kind === undefined);
    expect(await read(leader)).toEqual([1, 3]);
  });
});
