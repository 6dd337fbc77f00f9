import { randomUUID } from 'node:crypto';
import { connect, disconnect } from '../../src/adapters/eventstoredb/client.js';
import { EventStoreDbProjections } from '../../src/adapters/eventstoredb/projection-server.js';
import { type EventStore, NO_STREAM, StoreUnavailable } from '../../src/ports/event-store.js';
import type { ProjectionServer } from '../../src/ports/projection-server.js';
import { deploy, rebuild, StandsStill, verify } from '../../src/read-model/server-projections.js';
import { enveloped } from '../../src/webhooks/envelope.js';
import { type AccountEvent, accountStream } from '../../src/webhooks/events.js';
import { collect } from '../contract/contract.js';
import {
  type EventStoreOptions,
  type EventStoreServer,
  startEventStore,
} from '../services/eventstoredb/event-store-server.js';
import { eventually } from '../support/clocks/eventually.js';
import { added, CONTEXT, registered } from '../support/generators/webhook-samples.js';
import { openEventStoreDb } from '../support/scenes/eventstoredb-subjects.js';

const NAME = 'account-webhooks';

let server: EventStoreServer;
let store: EventStore;
let client: ReturnType<typeof connect>;
let projections: ProjectionServer;
let steps: string[];

beforeEach(() => open());

async function open(options: EventStoreOptions = {}) {
  server = await startEventStore(options);
  await server.projectionsStarted;
  steps = [];
  store = openEventStoreDb(server.url);
  client = connect(server.url);
  projections = new EventStoreDbProjections(client);
}

afterEach(async () => {
  await store.close();
  await disconnect(client);
  await server.stop();
});

const append = (accountId: number, events: AccountEvent[], revision = NO_STREAM) =>
  store.append(accountStream(accountId), enveloped(events, CONTEXT, randomUUID), revision);

const watching = {
  lookEveryMs: 5,
  patience: 1_000,
  onStep: (name: string) => void steps.push(name),
};
const impatient = { ...watching, patience: 20 };
const stateOf = (accountId: number) => projections.state(NAME, accountStream(accountId));

/** The server's own status is a second late. */
const untilEqual = () => eventually(async () => (await collect(verify(store, projections, [NAME]))).length === 0);

const OTHER = `fromCategory('account').foreachStream().when({ AccountRegistered: () => ({ old: true }) })`;

describe('deploy', () => {
  it.each(['stop', 'put', 'reset'] as const)('finishes one that was killed after its %s', async (last) => {
    await append(1, [registered(1), added(7)]);
    await deploy(projections, NAME, watching);
    await projections.put(NAME, OTHER);
    const killed = Object.assign(new EventStoreDbProjections(client), {
      [{ stop: 'put', put: 'reset', reset: 'start' }[last]]: () => Promise.reject(new Error('killed')),
    });
    await expect(deploy(killed, NAME, watching)).rejects.toThrow('killed');
    expect(await deploy(projections, NAME, watching)).toMatchObject({ outcome: 'rebuilt' });
    await untilEqual();
  });

  it('fails where nothing moves at the server', async () => {
    await append(1, [registered(1)]);
    server.faults.holdProjections();
    await expect(deploy(projections, NAME, impatient)).rejects.toThrow(StandsStill);
    server.faults.holdProjections(false);
    expect(await deploy(projections, NAME, watching)).toMatchObject({ outcome: 'unchanged' });
  });
});

describe('rebuild', () => {
  beforeEach(async () => {
    for (const id of [1, 2]) await append(id, [registered(id), added(id * 10)]);
    await deploy(projections, NAME, watching);
  });

  it('of one that is stopped ends when all is folded again, while others append', async () => {
    await projections.stop(NAME);
    server.faults.holdProjections();
    const rebuilding = rebuild(projections, NAME, watching);
    await eventually(async () => !Object.hasOwn(Object(await stateOf(1)), 'accountId'));
    await append(3, [registered(3)]);
    await append(1, [added(11)], 1);
    server.faults.holdProjections(false);
    expect(await rebuilding).toMatchObject({ outcome: 'rebuilt' });
    await untilEqual();
  });
});

describe('verify', () => {
  it('ends with StoreUnavailable where the server is down, and where it goes down meanwhile', async () => {
    await append(1, [registered(1)]);
    await deploy(projections, NAME, watching);
    server.faults.silent('subscribe');
    const verifying = collect(verify(store, projections, [NAME]));
    await Promise.all([
      expect(verifying).rejects.toThrow(StoreUnavailable),
      eventually(() => server.faults.running.size === 1).then(() => server.kill()),
    ]);
    await expect(collect(verify(store, projections, [NAME]))).rejects.toThrow(StoreUnavailable);
  });
});

describe('an account whose stream is hidden', () => {
  beforeEach(async () => {
    for (const id of [1, 2]) await append(id, [registered(id), added(id * 10)]);
    await deploy(projections, NAME, watching);
  });

  it('is named by verify, which compares the others', async () => {
    await client.deleteStream('account-1');
    expect(await collect(verify(store, projections, [NAME]))).toEqual([
      { projection: NAME, stream: 'account-1', unreadable: 'its stream cannot be read: it was deleted' },
    ]);
    await projections.put(NAME, OTHER);
    await append(2, [added(21)], 1);
    expect(await collect(verify(store, projections, [NAME]))).toMatchObject([
      { stream: 'account-1', unreadable: 'its stream cannot be read: it was deleted' },
      { stream: 'account-2', local: { webhooks: [{ id: 20 }, { id: 21 }] } },
    ]);
  });

  it.each([
    [
      'a part of it',
      () => client.setStreamMetadata('account-1', { truncateBefore: 1 }),
      /before revision 1 were removed/,
    ],
    ['all of it', () => client.deleteStream('account-1'), /it was deleted/],
    ['it, for ever', () => client.tombstoneStream('account-1'), /tombstoned/],
  ])('is named by verify after a scavenge that removed %s', async (_, hide, why) => {
    await hide();
    server.data.scavenge();
    expect(await collect(verify(store, projections, [NAME]))).toEqual([
      { projection: NAME, stream: 'account-1', unreadable: expect.stringMatching(why) },
    ]);
  });
});
