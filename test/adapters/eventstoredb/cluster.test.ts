/** A cluster is looked for by asking its members: the client does that apart from its calls, and in its own time. */
import { randomUUID } from 'node:crypto';
import { disconnect } from '../../../src/adapters/eventstoredb/client.js';
import { type EventStore, type NewEvent, NO_STREAM, StoreUnavailable } from '../../../src/ports/event-store.js';
import { collect } from '../../contract/contract.js';
import { patience } from '../../runner/patience.js';
import { type EventStoreCluster, startEventStoreCluster } from '../../services/eventstoredb/cluster.js';
import { openEventStoreDb } from '../../support/eventstoredb-subjects.js';
import { eventually } from '../../support/eventually.js';

const PATIENCE = { timeout: 15_000 };
/** For calls that are to be in vain. */
const HASTY = { appendMs: 1_500 };

let cluster: EventStoreCluster;
let store: EventStore;
let closing: (() => unknown)[];

beforeEach(async () => {
  cluster = await startEventStoreCluster(3);
  closing = [() => cluster.stop()];
  store = open();
});

afterEach(async () => {
  for (const close of closing.reverse()) await close();
});

function open(limits = {}): EventStore {
  const opened = openEventStoreDb(`${cluster.url}&discoveryInterval=20&maxDiscoverAttempts=5`, limits);
  closing.push(() => opened.close());
  return opened;
}

const event = (): NewEvent => ({ id: randomUUID(), type: 'Happened', data: {}, metadata: {} });
const killAll = () => Promise.all(cluster.members.map((member) => cluster.kill(member)));
const subscriptions = () => cluster.members.reduce((sum, { faults }) => sum + faults.running.size, 0);

function follow(after: string | null = null) {
  const until = new AbortController();
  const seen: string[] = [];
  const ended = (async () => {
    for await (const { events } of store.subscribe({ after, streamPrefix: 'account-', signal: until.signal })) {
      seen.push(...events.map(({ id }) => id));
    }
  })();
  const end = () => {
    until.abort();
    return ended;
  };
  closing.push(end);
  return { seen, end };
}

it('is found by any of its members, and found again when its leader is gone', async () => {
  await store.append('account-1', [event()], NO_STREAM);
  const [leader, other] = cluster.members;
  if (!leader || !other) throw new Error('a cluster has members');
  await cluster.kill(leader);
  cluster.elect(other);
  expect(await store.append('account-1', [event()], 0)).toMatchObject({ revision: 1 });
});

it('that is down ends reads and appends with a line that says so', async () => {
  await killAll();
  const hasty = open(HASTY);
  for (const call of [() => collect(hasty.read('account-1')), () => hasty.append('account-1', [event()], NO_STREAM)]) {
    const failure = await call().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StoreUnavailable);
    expect((failure as Error).message).toMatch(/no member of .* cluster .*EVENT_STORE_URL/);
  }
});

it('that is down is waited for by a subscription that goes on from a position', async () => {
  const [first, second] = [event(), event()];
  const { position } = await store.append('account-1', [first], NO_STREAM);
  await store.append('account-1', [second], 0);
  store = open(HASTY);
  await killAll();
  await expect(collect(store.read('account-1'))).rejects.toThrow(StoreUnavailable);
  const { seen } = follow(position);
  await expect(collect(store.read('account-1'))).rejects.toThrow(StoreUnavailable);
  await cluster.revive();
  await eventually(() => seen.length > 0, PATIENCE);
  expect(seen).toEqual([second.id]);
});

it('that goes down while it is looked for ends nothing but what was asked of it', async () => {
  const [first, second] = [event(), event()];
  await store.append('account-1', [first], NO_STREAM);
  const patient = store;
  store = open(HASTY);
  const { seen } = follow();
  await eventually(() => seen.length === 1 && subscriptions() === 1, PATIENCE);
  // The client leaves the connection that said so to what runs on it, and looks for another.
  for (const { faults } of cluster.members) faults.notReady();
  await expect(collect(store.read('account-1'))).rejects.toThrow(StoreUnavailable);
  for (const { faults } of cluster.members) faults.silent('gossip');
  const looking = collect(store.read('account-1'));
  looking.catch(() => undefined);
  await killAll();
  await expect(looking).rejects.toThrow(StoreUnavailable);
  await cluster.revive();
  await patient.append('account-1', [second], 0);
  await eventually(() => seen.length === 2, PATIENCE);
  expect(seen).toEqual([first.id, second.id]);
});

it('that accepts connections and says nothing keeps nobody who wants to end', async () => {
  for (const { faults } of cluster.members) faults.silent('gossip');
  const { end } = follow();
  await expect(collect(open({ ...HASTY, silenceMs: 1_000 }).read('account-1'))).rejects.toThrow(StoreUnavailable);
  const began = performance.now();
  await end();
  await store.close();
  expect(performance.now() - began).toBeLessThan(4_000 * patience());
});

it('that is found only after the store was closed leaves no channel open', async () => {
  const channel = { close: jest.fn() };
  let find: (found: typeof channel) => void = () => undefined;
  const searching = new Promise((resolve) => {
    find = resolve;
  });
  const client = { dispose: async () => undefined, getChannel: () => searching };
  await disconnect(client as unknown as Parameters<typeof disconnect>[0]);
  find(channel);
  await eventually(() => channel.close.mock.calls.length === 1);
});
