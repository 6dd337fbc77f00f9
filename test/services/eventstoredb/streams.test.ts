/** Metadata and deletion of streams, as measured of a real server. */
import { NO_STREAM, START, STREAM_EXISTS } from '@eventstore/db-client';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { collect, event, failure, harness, numbers } from './harness.js';

const { open, client: connect } = harness();
let client: ReturnType<typeof connect>;
const read = (stream = 'a') => collect(client.readStream(stream));

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
    const all = await collect(client.readAll({ fromPosition: START }));
    expect(all.filter((each) => each.event?.streamId === 'a')).toHaveLength(4);
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

  test('is deleted for who expects that it exists', async () => {
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
