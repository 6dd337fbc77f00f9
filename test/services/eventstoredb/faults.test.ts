/** What goes wrong, as the client sees it: killed servers, cut connections, silence, refusals. */
import { once } from 'node:events';
import { type EventStoreDBClient, NO_STREAM, streamNameFilter } from '@eventstore/db-client';
import { eventually } from '../../support/eventually.js';
import { collect, event, failure, harness, numbers } from './harness.js';
import { needsTestServer, type OwnServer } from './own-server.js';

const { open, start, client: connect } = harness();
let client: EventStoreDBClient;

const append = (number = 0, expectedRevision: 'any' | 'no_stream' | bigint = 'any', each = event(number)) =>
  client.appendToStream('account-1', each, { expectedRevision });
const subscribe = () => client.subscribeToAll({ filter: streamNameFilter({ prefixes: ['account-'] }) });
const UNAVAILABLE = 14;

describe('a killed server', () => {
  let server: OwnServer;
  beforeEach(async () => {
    server = await open();
    client = connect(server.url);
    await append();
  });

  test('makes `for await` of a subscription throw UnavailableError', async () => {
    const subscription = subscribe();
    const failed = failure(collect(subscription));
    await once(subscription, 'caughtUp');
    await server.kill();
    expect(await failed).toMatchObject({ kind: 'UnavailableError', type: 'unavailable', code: UNAVAILABLE });
  });

  test('fails reads and appends with UnavailableError', async () => {
    await server.kill();
    expect(await failure(append())).toMatchObject({ type: 'unavailable', code: UNAVAILABLE });
    expect(await failure(collect(client.readStream('account-1')))).toMatchObject({ type: 'unavailable' });
  });

  test('has what it acknowledged when it comes back, for the same client', async () => {
    await append(1);
    await server.kill();
    await failure(append(2));
    await server.revive();
    await eventually(async () => (await failure(append(3))).kind === undefined);
    expect(numbers(await collect(client.readStream('account-1')))).toEqual([0, 1, 3]);
  });
});

needsTestServer(() => {
  let server: Awaited<ReturnType<typeof start>>;
  const running = () => eventually(() => server.faults.running.size === 1);
  beforeEach(async () => {
    server = await start();
    client = connect(server.url);
    await append();
  });

  describe('a killed server', () => {
    test('fails the appends that are on their way, and those that come', async () => {
      server.faults.silent('append');
      const [onTheirWay] = [failure(append()), await collect(client.readStream('account-1'))];
      await server.kill();
      expect(await onTheirWay).toMatchObject({ type: 'unavailable', code: UNAVAILABLE });
      expect(await failure(append())).toMatchObject({ code: UNAVAILABLE });
    });
  });

  test('a server that stops drops connections', async () => {
    const failed = failure(collect(subscribe()));
    await running();
    await server.stop();
    expect(await failed).toMatchObject({ type: 'unavailable', message: expect.stringContaining('Connection dropped') });
  });

  describe('a connection that is cut', () => {
    test.each([
      ['before-stored', [0]],
      ['after-stored', [0, 1]],
    ] as const)('%s leaves an append in doubt, and the same again is stored once', async (when, stored) => {
      server.faults.cutConnection(when);
      const each = event(1);
      expect(await failure(append(1, 0n, each))).toMatchObject({ type: 'unavailable' });
      expect(server.data.stream('account-1')).toHaveLength(stored.length);
      await eventually(async () => (await failure(append(1, 0n, each))).kind === undefined);
      expect(numbers(await collect(client.readStream('account-1')))).toEqual([0, 1]);
    });
  });

  describe('a silent server', () => {
    test('answers no append, and stores none', async () => {
      server.faults.silent('append');
      const appended = client.appendToStream('account-1', event(), { deadline: 100 });
      expect(await failure(appended)).toMatchObject({ type: 'deadline-exceeded' });
      expect(server.data.lastRevision('account-1')).toBe(0);
    });

    test('never gives a read its first event', async () => {
      server.faults.silent('read');
      const reading = client.readStream('account-1');
      let isAnswered = false;
      const first = failure(reading[Symbol.asyncIterator]().next());
      void first.then(() => {
        isAnswered = true;
      });
      await append(1);
      expect(isAnswered).toBe(false);
      reading.destroy();
      expect(await first).toMatchObject({ code: 'ERR_STREAM_PREMATURE_CLOSE' });
    });

    test('gives a subscription that runs nothing more, until it is not silent', async () => {
      const subscription = subscribe();
      const events = collect(subscription);
      await once(subscription, 'caughtUp');
      server.faults.silent('subscribe');
      await append(1);
      await subscription.unsubscribe();
      expect(numbers(await events)).toEqual([0]);
    });
  });

  test('a server that starts is not ready', async () => {
    server.faults.notReady();
    expect(await failure(append())).toMatchObject({ type: 'unavailable' });
    expect(await failure(collect(client.readStream('account-1')))).toMatchObject({ type: 'unavailable' });
    server.faults.clear();
    await eventually(async () => (await failure(append())).kind === undefined);
  });

  describe('subscriptions', () => {
    test('that the server ends cleanly end silently', async () => {
      const events = collect(subscribe());
      await running();
      server.faults.endSubscriptionsCleanly();
      expect(numbers(await events)).toEqual([0]);
    });

    test('that the server drops throw', async () => {
      const failed = failure(collect(subscribe()));
      await running();
      server.faults.dropSubscriptions();
      expect(await failed).toMatchObject({
        type: 'unknown',
        message: expect.stringContaining('SubscriptionDropReason'),
      });
    });
  });

  test('credentials that are refused give AccessDenied for every call', async () => {
    server.faults.refuseCredentials();
    client = connect(server.url);
    const denied = { kind: 'AccessDeniedError', type: 'access-denied', code: 16 };
    expect(await failure(append(1, NO_STREAM))).toMatchObject(denied);
    expect(await failure(collect(client.readStream('account-1')))).toMatchObject(denied);
    expect(await failure(collect(subscribe()))).toMatchObject(denied);
  });
});
