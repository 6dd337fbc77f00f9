/** Metadata and deletion of streams, as measured of a real server. */
import { NO_STREAM, START, STREAM_EXISTS, streamNameFilter } from '@eventstore/db-client';
import { collect, event, failure, harness, numbers } from './harness.js';
import { needsTestServer } from './own-server.js';

const { open, start, client: connect } = harness();
let client: ReturnType<typeof connect>;
const read = (stream = 'a') => collect(client.readStream(stream));
const all = async (stream: string) =>
  (await collect(client.readAll({ fromPosition: START }))).filter((each) => each.event?.streamId === stream);

beforeEach(async () => {
  client = connect((await open()).url);
  await client.appendToStream('a', [event(0), event(1), event(2), event(3)]);
});

describe('stream metadata', () => {
  test.each([
    [{ maxCount: 2 }, [2, 3]],
    [{ truncateBefore: 1 }, [1, 2, 3]],
    [{ maxAge: 3600 }, [0, 1, 2, 3]],
    // Not positive: the server ignores it.
    [{ maxAge: -1 }, [0, 1, 2, 3]],
    [{ maxAge: 3600, maxCount: 1 }, [3]],
  ])('%j hides events from reads', async (metadata, expected) => {
    await client.setStreamMetadata('a', metadata);
    expect(numbers(await read())).toEqual(expected);
    expect(await client.getStreamMetadata('a')).toMatchObject({ metadata });
  });

  test('that hides every event leaves a stream that is there, whose revisions go on', async () => {
    await client.setStreamMetadata('a', { truncateBefore: 4 });
    expect(await read()).toEqual([]);
    const { nextExpectedRevision } = await client.appendToStream('a', event(4), { expectedRevision: 3n });
    expect(nextExpectedRevision).toBe(4n);
  });

  test('does not hide events from those who read $all', async () => {
    await client.setStreamMetadata('a', { maxCount: 1 });
    expect(await all('a')).toHaveLength(4);
  });
});

needsTestServer(() => {
  let server: Awaited<ReturnType<typeof start>>;
  beforeEach(async () => {
    server = await start();
    client = connect(server.url);
    await client.appendToStream('a', [event(0), event(1), event(2), event(3)]);
  });

  test('a stream whose events have expired is not found', async () => {
    jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 10_000);
    await client.setStreamMetadata('a', { maxAge: 1 });
    expect(await failure(read())).toMatchObject({ type: 'stream-not-found' });
    expect(await all('a')).toHaveLength(4);
    server.data.scavenge();
    expect(await all('a')).toHaveLength(1);
    jest.restoreAllMocks();
  });

  test.each([
    [{ maxCount: 1 }, [3]],
    [{ truncateBefore: 2 }, [2, 3]],
  ])('a scavenge removes what %j hides from $all, for good', async (metadata, expected) => {
    await client.setStreamMetadata('a', metadata);
    server.data.scavenge();
    await client.setStreamMetadata('a', {});
    expect(numbers(await all('a'))).toEqual(expected);
    expect(numbers(await read())).toEqual(expected);
    const subscription = client.subscribeToAll({ filter: streamNameFilter({ prefixes: ['a'] }) });
    expect(numbers(await collect(subscription, expected.length))).toEqual(expected);
  });
});

describe('a deleted stream', () => {
  beforeEach(async () => {
    await client.deleteStream('a');
  });

  test('is not found', async () => {
    expect(await failure(read())).toMatchObject({ kind: 'StreamNotFoundError', type: 'stream-not-found' });
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

  test('stands in $all until a scavenge', async () => {
    expect(await all('a')).toHaveLength(4);
  });

  test('comes back whole where its metadata is written twice', async () => {
    await client.setStreamMetadata('a', {});
    expect(await read()).toEqual([]);
    await client.setStreamMetadata('a', {});
    expect(numbers(await read())).toEqual([0, 1, 2, 3]);
  });

  test('for ever can be neither read nor written, and ends with an event of the largest revision', async () => {
    await client.tombstoneStream('a');
    expect(await failure(read())).toMatchObject({ type: 'stream-deleted' });
    expect(await failure(client.appendToStream('a', event(4)))).toMatchObject({ type: 'stream-deleted' });
    const last = (await all('a')).at(-1)?.event;
    expect(last).toMatchObject({ type: '$streamDeleted', revision: 2n ** 63n - 1n });
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
