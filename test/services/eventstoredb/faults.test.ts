/** What goes wrong, as the client sees it: killed servers, cut connections, silence, refusals. */
import { once } from 'node:events';
import { type EventStoreDBClient, NO_STREAM, streamNameFilter } from '@eventstore/db-client';
import { eventually } from '../../support/eventually.js';
import { collect, event, failure, harness, numbers } from './harness.js';
import { needsTestServer } from './own-server.js';

const { open, start, client: connect } = harness();
let client: EventStoreDBClient;

const append = (number = 0, expectedRevision: 'any' | 'no_stream' | bigint = 'any', each = event(number)) =>
  client.appendToStream('account-1', each, { expectedRevision });
const read = () => collect(client.readStream('account-1'));
const subscribe = () => client.subscribeToAll({ filter: streamNameFilter({ prefixes: ['account-'] }) });
const UNAVAILABLE = { code: 14 };
const worksAgain = () => eventually(async () => (await failure(append(3))).kind === undefined);

test('a killed server fails all calls, and has what it acknowledged when it comes back, for the same client', async () => {
  const server = await open();
  client = connect(server.url);
  await append();
  const subscription = subscribe();
  const ended = failure(collect(subscription));
  await once(subscription, 'caughtUp');
  await server.kill();
  expect(await ended).toMatchObject(UNAVAILABLE);
  expect(await failure(append())).toMatchObject(UNAVAILABLE);
  expect(await failure(read())).toMatchObject(UNAVAILABLE);
  await server.revive();
  await worksAgain();
  expect(numbers(await read())).toEqual([0, 3]);
});

needsTestServer(() => {
  let server: Awaited<ReturnType<typeof start>>;
  const running = () => eventually(() => server.faults.running.size === 1);
  beforeEach(async () => {
    server = await start();
    client = connect(server.url);
    await append();
  });

  test.each([
    ['before-stored', [0]],
    ['after-stored', [0, 1]],
  ] as const)(
    'a connection cut %s leaves an append in doubt, and the same again is stored once',
    async (when, stored) => {
      server.faults.cutConnection(when);
      const each = event(1);
      expect(await failure(append(1, 0n, each))).toMatchObject({ type: 'unavailable' });
      expect(server.data.stream('account-1')).toHaveLength(stored.length);
      await eventually(async () => (await failure(append(1, 0n, each))).kind === undefined);
      expect(numbers(await read())).toEqual([0, 1]);
    },
  );

  test('a silent server stores no append, and gives reads and subscriptions nothing more', async () => {
    const subscription = subscribe();
    const events = collect(subscription);
    await once(subscription, 'caughtUp');
    server.faults.silent('read', 'subscribe');
    await append(1);
    const reading = client.readStream('account-1');
    let isAnswered = false;
    const first = failure(reading[Symbol.asyncIterator]().next()).finally(() => {
      isAnswered = true;
    });
    server.faults.silent('append');
    const appended = client.appendToStream('account-1', event(), { deadline: 100 });
    expect(await failure(appended)).toMatchObject({ type: 'deadline-exceeded' });
    expect(server.data.lastRevision('account-1')).toBe(1);
    expect(isAnswered).toBe(false);
    reading.destroy();
    expect(await first).toMatchObject({ code: 'ERR_STREAM_PREMATURE_CLOSE' });
    await subscription.unsubscribe();
    expect(numbers(await events)).toEqual([0]);
  });

  test('a server that starts is not ready, until it is', async () => {
    server.faults.notReady();
    expect(await failure(append())).toMatchObject({ type: 'unavailable' });
    expect(await failure(read())).toMatchObject({ type: 'unavailable' });
    server.faults.clear();
    await worksAgain();
  });

  test('a subscription ends silently where the server ends it, and throws where the server drops it', async () => {
    const events = collect(subscribe());
    await running();
    server.faults.endSubscriptionsCleanly();
    expect(numbers(await events)).toEqual([0]);
    const dropped = failure(collect(subscribe()));
    await running();
    server.faults.dropSubscriptions();
    const reason = expect.stringContaining('SubscriptionDropReason');
    expect(await dropped).toMatchObject({ type: 'unknown', message: reason });
  });

  test('credentials that are refused give AccessDenied for every call', async () => {
    server.faults.refuseCredentials();
    client = connect(server.url);
    const denied = { kind: 'AccessDeniedError', type: 'access-denied', code: 16 };
    const calls = [append(1, NO_STREAM), read(), collect(subscribe())];
    for (const error of await Promise.all(calls.map(failure))) expect(error).toMatchObject(denied);
  });
});
