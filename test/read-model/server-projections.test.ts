import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { connect, disconnect } from '../../src/adapters/eventstoredb/client.js';
import { EventStoreDbProjections } from '../../src/adapters/eventstoredb/projection-server.js';
import { type EventStore, NO_STREAM, StoreUnavailable } from '../../src/ports/event-store.js';
import { ProjectionMissing, type ProjectionServer } from '../../src/ports/projection-server.js';
import { PROJECTIONS } from '../../src/read-model/projection-source.js';
import { deploy, verify } from '../../src/read-model/server-projections.js';
import { enveloped } from '../../src/webhooks/envelope.js';
import { type AccountEvent, accountStream } from '../../src/webhooks/events.js';
import { collect } from '../contract/contract.js';
import { type EventStoreServer, startEventStore } from '../services/eventstoredb/event-store-server.js';
import { openEventStoreDb } from '../support/eventstoredb-subjects.js';
import { eventually } from '../support/eventually.js';
import { added, CONTEXT, registered } from '../support/webhook-samples.js';

const NAME = 'account-webhooks';

let server: EventStoreServer;
let store: EventStore;
let client: ReturnType<typeof connect>;
let projections: ProjectionServer;

beforeEach(async () => {
  server = await startEventStore();
  store = openEventStoreDb(server.url);
  client = connect(server.url);
  projections = new EventStoreDbProjections(client);
});

afterEach(async () => {
  await store.close();
  await disconnect(client);
  await server.stop();
});

const append = (accountId: number, events: AccountEvent[], revision = NO_STREAM) =>
  store.append(accountStream(accountId), enveloped(events, CONTEXT, randomUUID), revision);

const stateOf = (accountId: number) => projections.state(NAME, accountStream(accountId));

describe('deploy', () => {
  it('creates them, and leaves alone what did not change', async () => {
    for (const name of PROJECTIONS) {
      expect(await projections.status(name)).toBeNull();
      expect(await deploy(store, projections, name)).toEqual({ projection: name, outcome: 'created' });
      expect(await projections.status(name)).toMatchObject({ status: 'Running' });
      expect(await deploy(store, projections, name)).toEqual({ projection: name, outcome: 'unchanged' });
    }
  });

  it('rebuilds one whose source on the server is another', async () => {
    await append(1, [registered(1), added(7)]);
    const older = `fromCategory('account').foreachStream().when({ AccountRegistered: () => ({ old: true }) }).outputState()`;
    await projections.put(NAME, older);
    await eventually(async () => JSON.stringify(await stateOf(1)).includes('old'));
    expect(await deploy(store, projections, NAME)).toEqual({ projection: NAME, outcome: 'rebuilt' });
    await eventually(async () => JSON.stringify(await stateOf(1)).includes('"id":7'));
  });
});

describe('verify', () => {
  it('finds no difference where the server folds what is folded here', async () => {
    for (const id of [1, 2, 3]) await append(id, [registered(id), added(id * 10), added(id * 10 + 1)]);
    for (const name of PROJECTIONS) {
      await deploy(store, projections, name);
      expect(await collect(verify(store, projections, name))).toEqual([]);
    }
  });

  it('tells which account differs, with both states', async () => {
    await append(1, [registered(1), added(7)]);
    await append(2, [registered(2)]);
    await deploy(store, projections, NAME);
    await eventually(async () => JSON.stringify(await stateOf(1)).includes('"id":7'));
    // Another source that kept the states, as updateProjection does.
    await projections.put(NAME, `fromCategory('account').foreachStream().when({}).outputState()`);
    await append(1, [added(8)], 1);
    const differences = await collect(verify(store, projections, NAME));
    expect(differences).toMatchObject([
      { projection: NAME, stream: 'account-1', local: { webhooks: [{ id: 7 }, { id: 8 }] }, server: { accountId: 1 } },
    ]);
  });

  it('of what was never deployed says so, as reset and state do', async () => {
    for (const call of [collect(verify(store, projections, NAME)), projections.reset(NAME), stateOf(1)]) {
      await expect(call).rejects.toThrow(ProjectionMissing);
    }
  });

  it('ends with StoreUnavailable where the server is down, and where it goes down meanwhile', async () => {
    await append(1, [registered(1)]);
    await deploy(store, projections, NAME);
    server.faults.silent('subscribe');
    const verifying = collect(verify(store, projections, NAME));
    await Promise.all([
      expect(verifying).rejects.toThrow(StoreUnavailable),
      eventually(() => server.faults.subscriptions === 1).then(() => server.kill()),
    ]);
    await expect(collect(verify(store, projections, NAME))).rejects.toThrow(StoreUnavailable);
  });
});
