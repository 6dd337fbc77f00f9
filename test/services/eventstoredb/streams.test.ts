/** Metadata and deletion of streams, as measured of a real server. */
import { NO_STREAM, START, STREAM_EXISTS } from '@eventstore/db-client';
import { collect, event, failure, harness, numbers } from './harness.js';
import { needsTestServer } from './own-server.js';

const { open, start, client: connect } = harness();
let client: ReturnType<typeof connect>;
const EVENTS = [0, 1, 2, 3];
const fill = () =>
  client.appendToStream(
    'a',
    EVENTS.map((number) => event(number)),
  );
const read = () => collect(client.readStream('a'));
const all = async () =>
  (await collect(client.readAll({ fromPosition: START }))).filter((each) => each.event?.streamId === 'a');
const NOT_FOUND = { kind: 'StreamNotFoundError', type: 'stream-not-found' };

beforeEach(async () => {
  client = connect((await open()).url);
  await fill();
});

test.each([
  [{ maxCount: 2 }, [2, 3]],
  [{ truncateBefore: 1 }, [1, 2, 3]],
  [{ truncateBefore: 4 }, []],
  [{ maxAge: 3600 }, EVENTS],
  // Not positive: the server ignores it.
  [{ maxAge: -1 }, EVENTS],
])('%j hides events from reads of the stream, not of $all, and revisions go on', async (metadata, expected) => {
  await client.setStreamMetadata('a', metadata);
  expect(numbers(await read())).toEqual(expected);
  expect(await client.getStreamMetadata('a')).toMatchObject({ metadata });
  expect(numbers(await all())).toEqual(EVENTS);
  const { nextExpectedRevision } = await client.appendToStream('a', event(4), { expectedRevision: 3n });
  expect(nextExpectedRevision).toBe(4n);
});

needsTestServer(() => {
  let server: Awaited<ReturnType<typeof start>>;
  beforeEach(async () => {
    server = await start();
    client = connect(server.url);
    await fill();
  });

  test('a stream whose events have expired is not found, and a scavenge leaves its last event', async () => {
    await client.setStreamMetadata('a', { maxAge: 1 });
    server.data.age('a', 10_000);
    expect(await failure(read())).toMatchObject(NOT_FOUND);
    expect(await all()).toHaveLength(4);
    server.data.scavenge();
    expect(await all()).toHaveLength(1);
  });

  test.each([
    [{ maxCount: 1 }, [3]],
    [{ truncateBefore: 2 }, [2, 3]],
  ])('a scavenge removes what %j hides from $all, for good', async (metadata, expected) => {
    await client.setStreamMetadata('a', metadata);
    server.data.scavenge();
    await client.setStreamMetadata('a', {});
    expect(numbers(await all())).toEqual(expected);
    expect(numbers(await read())).toEqual(expected);
  });
});

describe('a deleted stream', () => {
  beforeEach(async () => {
    await client.deleteStream('a');
  });

  test('is not found, and stands in $all', async () => {
    expect(await failure(read())).toMatchObject(NOT_FOUND);
    expect(await all()).toHaveLength(4);
  });

  test.each([
    ['no stream', NO_STREAM],
    ['its last revision', 3n],
    ['any', 'any'],
  ] as const)('comes back with an append that expects %s, and its revisions go on', async (_, expectedRevision) => {
    const { nextExpectedRevision } = await client.appendToStream('a', event(4), { expectedRevision });
    expect(nextExpectedRevision).toBe(4n);
    expect(numbers(await read())).toEqual([4]);
  });

  test('comes back whole where its metadata is written twice', async () => {
    await client.setStreamMetadata('a', {});
    expect(await read()).toEqual([]);
    await client.setStreamMetadata('a', {});
    expect(numbers(await read())).toEqual(EVENTS);
  });

  test('for ever can be neither read nor written, and ends with an event of the largest revision', async () => {
    await client.tombstoneStream('a');
    expect(await failure(read())).toMatchObject({ type: 'stream-deleted' });
    expect(await failure(client.appendToStream('a', event(4)))).toMatchObject({ type: 'stream-deleted' });
    expect((await all()).at(-1)?.event).toMatchObject({ type: '$streamDeleted', revision: 2n ** 63n - 1n });
  });

  test('cannot be appended to as an existing one', async () => {
    const append = client.appendToStream('a', event(4), { expectedRevision: STREAM_EXISTS });
    expect(await failure(append)).toMatchObject({ type: 'stream-deleted' });
  });
});

test.each([
  ['a stream that is not there', 'b', 'any'],
  ['another revision', 'a', 1n],
] as const)('a deletion of %s is refused', async (_, stream, expectedRevision) => {
  const refused = await failure(client.deleteStream(stream, { expectedRevision }));
  expect(refused).toMatchObject({ kind: 'WrongExpectedVersionError', type: 'wrong-expected-version' });
});
