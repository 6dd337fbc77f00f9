/** Subscriptions as the client sees them. */
import { once } from 'node:events';
import { END, type Position, START, streamNameFilter } from '@eventstore/db-client';
import { eventually } from '../../support/eventually.js';
import { collect, event, harness, numbers } from './harness.js';
import { needsTestServer } from './own-server.js';

const { open, start, client: connect } = harness();
let client: ReturnType<typeof connect>;

beforeEach(async () => {
  client = connect((await open()).url);
});

const several = (first: number, count: number) => Array.from({ length: count }, (_, more) => event(first + more));

const subscribe = (fromPosition: Position | typeof START | typeof END = START) =>
  client.subscribeToAll({ fromPosition, filter: streamNameFilter({ prefixes: ['account-'] }) });

describe('a subscription to $all with a prefix', () => {
  test('gives what is stored and then what is appended, of such streams only', async () => {
    await client.appendToStream('account-1', event(1));
    await client.appendToStream('other-1', event(2));
    const subscription = subscribe();
    const events = collect(subscription, 3);
    await once(subscription, 'caughtUp');
    await client.appendToStream('account-2', event(3));
    await client.appendToStream('other-1', event(4));
    await client.appendToStream('account-1', event(5));
    expect(numbers(await events)).toEqual([1, 3, 5]);
  });

  test('begins after a position, not with the event that is there', async () => {
    const { position } = await client.appendToStream('account-1', event(1));
    await client.appendToStream('account-1', event(2));
    expect(numbers(await collect(subscribe(position), 1))).toEqual([2]);
  });

  test('from the end gives what comes later', async () => {
    await client.appendToStream('account-1', event(1));
    const subscription = subscribe(END);
    const events = collect(subscription, 1);
    await once(subscription, 'caughtUp');
    await client.appendToStream('account-1', event(2));
    expect(numbers(await events)).toEqual([2]);
  });

  test.each([0, 1, 16, 17, 2_000])('is caught up when `readableLength` of %i events are still to come', async (all) => {
    for (let first = 0; first < all; first += 500) {
      await client.appendToStream('account-1', several(first, Math.min(500, all - first)));
    }
    let handled = 0;
    const subscription = subscribe();
    const atMark = new Promise<number>((resolve) => {
      subscription.once('caughtUp', () => resolve(handled + subscription.readableLength));
    });
    const reading = (async () => {
      for await (const _ of subscription) handled += 1;
    })();
    expect(await atMark).toBe(all);
    await eventually(() => handled === all);
    await subscription.unsubscribe();
    await reading;
  });

  needsTestServer(() => {
    let server: Awaited<ReturnType<typeof start>>;
    beforeEach(async () => {
      server = await start();
      client = connect(server.url);
    });

    test('ends silently when it is unsubscribed, and the server lets go of it', async () => {
      const subscription = subscribe();
      const events = collect(subscription);
      await once(subscription, 'caughtUp');
      await subscription.unsubscribe();
      expect(await events).toEqual([]);
      await eventually(() => server.faults.running.size === 0);
    });
  });
});
