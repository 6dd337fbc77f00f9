/** Appends and reads of a stream, as measured of a real server. */
import { randomUUID } from 'node:crypto';
import { ANY, type AppendExpectedRevision, BACKWARDS, END, NO_STREAM, STREAM_EXISTS } from '@eventstore/db-client';
import { collect, event, failure, harness, numbers } from './harness.js';

const { open, client: connect } = harness();
let client: ReturnType<typeof connect>;

beforeEach(async () => {
  client = connect((await open()).url);
});

const append = (stream: string, events: ReturnType<typeof event>[], expectedRevision: AppendExpectedRevision = ANY) =>
  client.appendToStream(stream, events, { expectedRevision });

describe('an append', () => {
  test('gives the revision and the position of its last event', async () => {
    const { success, nextExpectedRevision, position } = await append('a', [event(), event()], NO_STREAM);
    const [, last] = await collect(client.readStream('a'));
    expect({ success, nextExpectedRevision, position }).toEqual({
      success: true,
      nextExpectedRevision: 1n,
      position: last?.event?.position,
    });
  });

  test('again with the same ids and expected revision gives the first result, also later', async () => {
    const [one, two] = [event(), event()];
    const first = await append('a', [one, two], NO_STREAM);
    await append('a', [event()], 1n);
    expect(await append('a', [one, two], NO_STREAM)).toEqual(first);
    expect(await append('a', [one, two], ANY)).toEqual(first);
    expect(await collect(client.readStream('a'))).toHaveLength(3);
  });

  test.each<[string, AppendExpectedRevision]>([
    ['any', ANY],
    ['the first one', NO_STREAM],
  ])('that repeats a part of an earlier one with the expected revision %s is refused', async (_, expected) => {
    const one = event();
    await append('a', [one], NO_STREAM);
    expect(await failure(append('a', [one, event()], expected))).toMatchObject({ type: 'wrong-expected-version' });
  });

  test('again with the same ids and a revision that is not there yet is refused', async () => {
    const one = event();
    await append('a', [one], NO_STREAM);
    expect(await failure(append('a', [one], 5n))).toMatchObject({ type: 'wrong-expected-version' });
  });

  test.each<[AppendExpectedRevision, number, unknown, unknown]>([
    [NO_STREAM, 1, 'no_stream', 0n],
    [0n, 0, 0n, 'no_stream'],
    [0n, 2, 0n, 1n],
    [7n, 2, 7n, 1n],
    [STREAM_EXISTS, 0, 'stream_exists', 'no_stream'],
  ])('with the expected revision %s to a stream of %i events is refused', async (expected, length, told, actual) => {
    for (let count = 0; count < length; count += 1) await append('a', [event()]);
    await expect(append('a', [event()], expected)).rejects.toMatchObject({
      type: 'wrong-expected-version',
      streamName: 'a',
      expectedVersion: told,
      actualVersion: actual,
    });
  });

  test('of more than 1 MiB is refused, and nothing of it stored', async () => {
    const large = () => event(0, randomUUID(), 'x'.repeat(600_000));
    await append('a', [large()]);
    expect(await failure(append('b', [large(), large()]))).toMatchObject({ type: 'maximum-append-size-exceeded' });
    expect(await failure(collect(client.readStream('b')))).toMatchObject({ type: 'stream-not-found' });
  });

  test('is read as it was written', async () => {
    const id = randomUUID();
    await append('a', [event(7, id)]);
    const [read] = await collect(client.readStream('a'));
    expect(read?.event).toMatchObject({
      id,
      type: 'Counted',
      streamId: 'a',
      revision: 0n,
      data: { number: 7 },
      metadata: { $correlationId: 'c' },
      isJson: true,
      created: expect.any(Date),
    });
  });
});

describe('a read', () => {
  const several = (count: number) => Array.from({ length: count }, (_, number) => event(number));

  test('of a stream that is not there fails', async () => {
    expect(await failure(collect(client.readStream('a')))).toMatchObject({ type: 'stream-not-found' });
  });

  test.each([
    [{ fromRevision: 2n }, [2, 3, 4]],
    [{ fromRevision: 2n, maxCount: 1 }, [2]],
    [{ direction: BACKWARDS, fromRevision: END, maxCount: 2 } as const, [4, 3]],
    [{ direction: BACKWARDS, fromRevision: 1n } as const, [1, 0]],
    [{ fromRevision: 9n }, []],
  ])('of five events with %p', async (options, expected) => {
    await client.appendToStream('a', several(5));
    expect(numbers(await collect(client.readStream('a', options)))).toEqual(expected);
  });
});
