/** Positions in $all, as measured of a real server: of an event, inside of one, and beyond the end. */
import { once } from 'node:events';
import { BACKWARDS, END, type Position, START, streamNameFilter } from '@eventstore/db-client';
import { eventually } from '../../support/eventually.js';
import { collect, event, failure, harness, numbers } from './harness.js';
import { VERSIONS } from './own-server.js';

const { open, client: connect } = harness();
let client: ReturnType<typeof connect>;
let position: Position;

const UNTYPED = { kind: 'UnknownError', type: 'unknown' } as const;
/** What is said of a place inside an event. */
const REFUSALS = {
  '23.10': {
    read: { ...UNTYPED, code: 2, message: '2 UNKNOWN: Unexpected ReadAllResult: Error' },
    subscribe: { ...UNTYPED, code: 2, message: '2 UNKNOWN: Unexpected FilteredReadAllResult: Error' },
  },
  '25': {
    read: { ...UNTYPED, code: 2, message: '2 UNKNOWN: Unexpected ReadAllResult: InvalidPosition' },
    subscribe: { ...UNTYPED, code: 3, message: '3 INVALID_ARGUMENT: InvalidPosition' },
  },
} as const;

describe.each(VERSIONS)('%s', (version) => {
  beforeEach(async () => {
    client = connect((await open({ version })).url);
    const appended = await client.appendToStream('account-1', event(1));
    position = appended.position as Position;
  });

  const later = (by: bigint): Position => ({ commit: position.commit + by, prepare: position.prepare + by });
  const BEYOND = 1_000_000n;
  const filter = streamNameFilter({ prefixes: ['account-'] });

  describe('a read of $all', () => {
    const read = (fromPosition: Position) => collect(client.readAll({ fromPosition, maxCount: 1 }));

    test('from the position of an event gives that event first', async () => {
      expect(numbers(await read(position))).toEqual([1]);
    });

    test('from a place inside an event fails with words that name no cause', async () => {
      expect(await failure(read(later(1n)))).toEqual(REFUSALS[version].read);
    });

    test('from beyond the end gives nothing, without an error', async () => {
      expect(await read(later(BEYOND))).toEqual([]);
    });

    test('takes no notice of a filter: this client sends none', async () => {
      await client.appendToStream('other-1', event(2));
      const options = { fromPosition: position, filter: streamNameFilter({ prefixes: ['other-'] }) };
      const [first] = await collect(client.readAll(options), 1);
      expect(first?.event?.streamId).toBe('account-1');
    });

    test("backwards from the end begins with the log's last record, whosever it is", async () => {
      const last = async () =>
        (await collect(client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 })))[0]?.event;
      const head = await eventually(async () => {
        const record = await last();
        return record?.type === '$>' && record;
      });
      expect(head.position?.commit).toBeGreaterThan(position.commit);
      expect(head.position).toEqual((await collect(client.readAll({ fromPosition: START }))).at(-1)?.event?.position);
    });
  });

  describe('a subscription to $all', () => {
    const subscribe = (fromPosition: Position) => client.subscribeToAll({ fromPosition, filter });

    test('from a place inside an event fails with words that name no cause', async () => {
      expect(await failure(collect(subscribe(later(1n))))).toEqual(REFUSALS[version].subscribe);
    });

    test('from beyond the end: 23.10 is caught up at once and goes on, 25 gives nothing', async () => {
      const subscription = subscribe(later(BEYOND));
      const given: unknown[] = [];
      subscription.on('data', (each) => given.push(...numbers([each])));
      await once(subscription, version === '25' ? 'confirmation' : 'caughtUp');
      const heard = collect(subscribe(position), 2);
      for (const number of [2, 3]) await client.appendToStream('account-1', event(number));
      expect(numbers(await heard)).toEqual([2, 3]);
      // Answered after what was given to the subscription before.
      await collect(client.readStream('account-1'));
      expect(given).toEqual(version === '25' ? [] : [2, 3]);
      await subscription.unsubscribe();
    });
  });
});
