/** A cluster is looked for by asking its members: the client does that apart from its calls, and in its own time. */
import { randomUUID } from 'node:crypto';
import { type EventStore, type NewEvent, NO_STREAM, StoreUnavailable } from '../../../src/ports/event-store.js';
import { collect } from '../../contract/contract.js';
import { type EventStoreCluster, startEventStoreCluster } from '../../services/eventstoredb/cluster.js';
import { eventually } from '../../support/clocks/eventually.js';
import { openEventStoreDb } from '../../support/scenes/eventstoredb-subjects.js';

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

it('that is down ends reads and appends with a line that says so', async () => {
  await killAll();
  // Without HASTY: five attempts to find a member may take a busy machine longer.
  const patient = open();
  for (const call of [
    () => collect(patient.read('account-1')),
    () => patient.append('account-1', [event()], NO_STREAM),
  ]) {
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
