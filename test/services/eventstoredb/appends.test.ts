/** Appends and reads of a stream, as measured of a real server. */
import { randomUUID } from 'node:crypto';
import {
  ANY,
  type AppendExpectedRevision,
  BACKWARDS,
  END,
  NO_STREAM,
  type ReadStreamOptions,
  STREAM_EXISTS,
} from '@eventstore/db-client';
import { collect, event, failure, harness, numbers } from './harness.js';

const { open, client: connect } = harness();
let client: ReturnType<typeof connect>;

beforeEach(async () => {
  client = connect((await open()).url);
});

const append = (events: ReturnType<typeof event>[], expectedRevision: AppendExpectedRevision = ANY, stream = 'a') =>
  client.appendToStream(stream, events, { expectedRevision });
const REFUSED = { type: 'wrong-expected-version' };

test('an append gives the revision and position of its last event, which is read as it was written', async () => {
  const id = randomUUID();
  const { success, nextExpectedRevision, position } = await append([event(), event(7, id)], NO_STREAM);
  const [, last] = await collect(client.readStream('a'));
  expect({ success, nextExpectedRevision }).toEqual({ success: true, nextExpectedRevision: 1n });
  expect(last?.event).toMatchObject({
    ...{ id, type: 'Counted', streamId: 'a', revision: 1n, position, isJson: true, created: expect.any(Date) },
    ...{ data: { number: 7 }, metadata: { $correlationId: 'c' } },
  });
});

test('the same ids and expected revision again give the first result, also later and with ANY', async () => {
  const [one, two] = [event(), event()];
  const first = await append([one, two], NO_STREAM);
  await append([event()], 1n);
  expect(await append([one, two], NO_STREAM)).toEqual(first);
  expect(await append([one, two], ANY)).toEqual(first);
  expect(await collect(client.readStream('a'))).toHaveLength(3);
});

test('a partly repeated append is refused, and so are the same ids at a revision that is not there yet', async () => {
  const one = event();
  await append([one], NO_STREAM);
  for (const expected of [ANY, NO_STREAM] as const)
    expect(await failure(append([one, event()], expected))).toMatchObject(REFUSED);
  expect(await failure(append([one], 5n))).toMatchObject(REFUSED);
});

test.each<[AppendExpectedRevision, number, unknown, unknown]>([
  [NO_STREAM, 1, 'no_stream', 0n],
  [0n, 0, 0n, 'no_stream'],
  [0n, 2, 0n, 1n],
  [7n, 2, 7n, 1n],
  [STREAM_EXISTS, 0, 'stream_exists', 'no_stream'],
])('the expected revision %s is refused of a stream of %i events', async (expected, length, said, actual) => {
  for (let count = 0; count < length; count += 1) await append([event()]);
  const refused = { ...REFUSED, streamName: 'a', expectedVersion: said, actualVersion: actual };
  await expect(append([event()], expected)).rejects.toMatchObject(refused);
});

test('an append of more than 1 MiB is refused, and nothing of it stored', async () => {
  const large = () => event(0, randomUUID(), 'x'.repeat(600_000));
  await append([large()]);
  expect(await failure(append([large(), large()], ANY, 'b'))).toMatchObject({ type: 'maximum-append-size-exceeded' });
  expect(await failure(collect(client.readStream('b')))).toMatchObject({ type: 'stream-not-found' });
});

test.each<[ReadStreamOptions, number[]]>([
  [{ fromRevision: 2n }, [2, 3, 4]],
  [{ fromRevision: 2n, maxCount: 1 }, [2]],
  [{ direction: BACKWARDS, fromRevision: END, maxCount: 2 }, [4, 3]],
  [{ direction: BACKWARDS, fromRevision: 1n }, [1, 0]],
  [{ fromRevision: 9n }, []],
])('a read of five events with %p', async (options, expected) => {
  await append([0, 1, 2, 3, 4].map((number) => event(number)));
  expect(numbers(await collect(client.readStream('a', options)))).toEqual(expected);
});
