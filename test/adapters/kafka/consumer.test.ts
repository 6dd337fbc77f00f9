import { decodedBehind } from '../../../src/adapters/common/done-behind.js';
import { passed, unreadable } from '../../../src/adapters/kafka/fetched/marks.js';
import { eventually } from '../../support/clocks/eventually.js';
import { ConsumerScene, NOT_DUE } from '../../support/scenes/consumer-scene.js';

/** As kafkajs throws it. */
const METADATA_TOO_LARGE = Object.assign(new Error('too large'), { type: 'OFFSET_METADATA_TOO_LARGE' });

const metadataOf = (commit: readonly { readonly metadata?: string | null }[] = []) => commit[0]?.metadata ?? '';

let scene: ConsumerScene;
beforeEach(async () => {
  scene = await ConsumerScene.begin();
});
afterEach(() => scene.consumer.close());

describe('its state', () => {
  const ofTopic = { topic: 't', partition: 0, unreadable: null };

  it('is connected from its first join on, and not after a crash', async () => {
    expect(scene.consumer.state()).toEqual({ connected: false, inHand: 0, partitions: [], foreign: [] });
    await scene.client.join({ t: [0] });
    expect(scene.consumer.state().connected).toBe(true);
    await scene.client.emit('CRASH', { error: new Error('Kafka is away'), restart: true });
    expect(scene.consumer.state().connected).toBe(false);
  });

  it('has the lag, the records in hand and the next one', async () => {
    scene.starts.set('t', NOT_DUE - 2);
    let isAway = true;
    scene.rejects = () => isAway;
    await scene.client.join({ t: [0] });
    await scene.called(`seek t ${NOT_DUE - 2}`);
    expect(scene.consumer.state().partitions).toEqual([{ ...ofTopic, behind: 0, head: null }]);
    await scene.client.fetched('t', NOT_DUE - 2, NOT_DUE, NOT_DUE + 10);
    await eventually(() => scene.handled.length >= 2);
    const head = { publishedAt: 0, overdueMs: 0 };
    expect(scene.consumer.state()).toEqual({
      ...{ connected: true, inHand: 2, foreign: [] },
      partitions: [{ ...ofTopic, behind: 12, head }],
    });
    isAway = false;
    await eventually(() => scene.consumer.state().inHand === 0);
    expect(scene.consumer.state().partitions).toEqual([{ ...ofTopic, behind: 10, head }]);
  });

  it('has the lag of the last fetch, even one without records', async () => {
    await scene.joined();
    await scene.client.fetchedEnd('t', 25);
    // Of a partition that can't be fetched.
    await scene.client.fetchedEnd('t', -1);
    expect(scene.consumer.state().partitions).toEqual([{ ...ofTopic, behind: 20, head: null }]);
  });

  it('names a partition that the broker cannot read, until a fetch of it succeeds, even without records', async () => {
    await scene.joined();
    const unreadable = () => scene.consumer.state().partitions[0]?.unreadable?.reason ?? null;
    const fails = (reason: string, end = -1) =>
      scene.client.fetchedEnd('t', end, { fault: { kind: 'unreadable', reason } });
    await fails('CORRUPT_MESSAGE');
    expect(unreadable()).toBe('CORRUPT_MESSAGE');
    expect(scene.client.calls.at(-1)).toBe('pause t');
    await fails('CORRUPT_MESSAGE');
    await eventually(() => scene.client.calls.at(-1) === 'resume t');
    await fails('an invalid length', 9);
    expect(unreadable()).toBe('an invalid length');
    await scene.client.fetchedEnd('t', -1);
    expect(unreadable()).toBe('an invalid length');
    await scene.client.fetchedEnd('t', 5);
    expect(unreadable()).toBeNull();
    await scene.client.fetched('t', 5, 6);
    await eventually(() => scene.handled.length === 2);
  });
});

describe('a fetch without records', () => {
  it('ends soon while a partition is paused, which may be resumed meanwhile, and waits longer while none is', async () => {
    scene.starts.delete('t');
    await scene.client.join({ t: [0], u: [0] });
    await scene.called('resume u');
    expect(await scene.client.fetchWaitMs()).toBe(100);
    scene.starts.set('t', 5);
    await scene.called('seek t 5');
    expect(await scene.client.fetchWaitMs()).toBe(1_000);
  });

  it('ends soon once the consumer stops', async () => {
    await scene.joined();
    expect(await scene.client.fetchWaitMs()).toBe(1_000);
    scene.consumer.stop();
    expect(await scene.client.fetchWaitMs()).toBe(100);
  });
});

describe('what is done', () => {
  beforeEach(async () => {
    await scene.joined();
  });

  it('is committed the moment a rebalance begins', async () => {
    await scene.client.fetched('t', 5, 9);
    await eventually(() => scene.handled.length === 5);
    await scene.client.beginJoin();
    expect(scene.offsets).toEqual([['t 10']]);
  });

  it('is committed by close although the group is just rebalancing: it is tried again', async () => {
    await scene.client.fetched('t', 5, 9);
    await eventually(() => scene.handled.length === 5);
    let refusals = 2;
    scene.client.commit = async () => {
      if (refusals-- > 0) throw new Error('rebalancing');
    };
    await scene.consumer.close();
    expect(scene.offsets).toEqual([['t 10'], ['t 10'], ['t 10']]);
  });

  it('is committed with the offset, if it is behind a record that is not done', async () => {
    scene.rejects = ({ offset }) => offset === 6;
    await scene.client.fetched('t', 5, 9);
    await eventually(() => scene.client.commits.length > 0);
    const [commit] = scene.client.commits.flat();
    expect(commit?.offset).toBe('6');
    expect(decodedBehind(commit?.metadata ?? '', 6)).toEqual({ records: new Set([7, 8, 9]), parts: new Map() });
  });

  it('is committed as far as Kafka stores it: less metadata after each rejection, logged once', async () => {
    scene.rejects = ({ offset }) => offset % 2 === 0;
    const tooLarge = () => metadataOf(scene.client.commits.at(-1)).length > 12;
    scene.client.commit = async () => {
      if (tooLarge()) throw METADATA_TOO_LARGE;
    };
    await scene.client.fetched('t', 5, 14);
    await eventually(() => scene.client.commits.length > 0 && !tooLarge());
    const [first = '', ...next] = scene.client.commits.map(metadataOf);
    expect(decodedBehind(first, 6)?.records).toEqual(new Set([7, 9, 11, 13]));
    expect(next.every((metadata) => metadata.length <= first.length / 2)).toBe(true);
    expect(decodedBehind(next.at(-1) ?? '', 6)?.records).toEqual(new Set([7]));
    scene.rejects = ({ offset }) => offset === 6;
    await eventually(() => decodedBehind(metadataOf(scene.client.commits.at(-1)), 6)?.records.size === 8);
    const warnings = scene.logger.warnings.filter(([, text]) => String(text).includes('offset.metadata.max.bytes'));
    expect(warnings).toEqual([[{ group: 'g', rejectedBytes: first.length }, expect.any(String)]]);
  });

  it('is left out of a commit whose metadata Kafka does not store at all: the offset is committed', async () => {
    scene.rejects = ({ offset }) => offset === 6;
    scene.client.commit = async () => {
      if (metadataOf(scene.client.commits.at(-1)) !== '') throw METADATA_TOO_LARGE;
    };
    await scene.client.fetched('t', 5, 9);
    await eventually(() => scene.offsets.length > 0 && metadataOf(scene.client.commits.at(-1)) === '');
    expect(scene.offsets.at(-1)).toEqual(['t 6']);
  });

  it('is committed again where kafkajs dropped the commit and said nothing', async () => {
    scene.client.dropsCommits = true;
    await scene.client.fetched('t', 5, 9);
    await eventually(() => scene.client.commits.length === 1);
    scene.client.dropsCommits = false;
    await eventually(() => scene.client.commits.length === 2);
    expect(scene.offsets).toEqual([['t 10'], ['t 10']]);
  });

  it('includes what holds nothing for anybody, as an aborted transaction', async () => {
    await scene.client.fetchedMessages('t', { first: 5, last: 99, end: 101 }, [passed(99)]);
    await scene.client.fetched('t', 100, 100);
    await eventually(() => scene.handled.length === 1);
    await scene.consumer.close();
    expect(scene.offsets).toEqual([['t 101']]);
  });

  it('of a full partition goes on while the client is in no group: nothing is lost from hand', async () => {
    await scene.client.fetched('t', 5, 604);
    scene.client.inNoGroup = true;
    await eventually(() => scene.handled.length === 600);
    scene.client.inNoGroup = false;
    await eventually(() => scene.offsets.at(-1)?.includes('t 605'));
  });
});

describe('where the log lacks the fetched offset', () => {
  const OUT_OF_RANGE = { fault: { kind: 'no-offset', reason: 'OFFSET_OUT_OF_RANGE' } } as const;

  /** In hand are 5 to 9, of which 5 is not done. */
  const lacks = async (from: number, first: number) => {
    await scene.joined();
    let isAway = true;
    scene.rejects = ({ offset }) => offset === 5 && isAway;
    await scene.client.fetched('t', 5, 9);
    await eventually(() => scene.handled.length >= 5);
    scene.client.calls.length = scene.client.commits.length = 0;
    scene.oldest = first;
    scene.starts.set('t', first);
    await scene.client.fetchedEnd('t', -1, { from, ...OUT_OF_RANGE });
    await eventually(() => scene.client.calls.at(-1) === 'resume t');
    return () => {
      isAway = false;
    };
  };

  it('begins anew where the topic was recreated, and does not commit what is in hand', async () => {
    await lacks(30, 20);
    expect(scene.seeks).toEqual(['seek t 20']);
    await scene.client.fetched('t', 20, 21);
    await eventually(() => scene.offsets.length > 0);
    expect(scene.offsets[0]).toEqual(['t 22']);
  });

  it('goes on behind records that were deleted, and what is in hand is done', async () => {
    const comesBack = await lacks(10, 20);
    expect(scene.seeks).toEqual(['seek t 20']);
    comesBack();
    await eventually(() => scene.offsets.flat().includes('t 20'));
  });

  it('goes on where it is if kafkajs moved its own offset', async () => {
    await lacks(2, 4);
    expect(scene.seeks).toEqual(['seek t 10']);
  });
});

describe('a batch that is unreadable in one fetch', () => {
  const damaged = { first: 7, last: 8, codec: 'gzip', reason: 'its checksum does not match', digest: 'd' };
  const fetched = (digest = 'd') =>
    scene.client.fetchedMessages('t', { first: 5, last: 8, end: 9 }, [passed(6), unreadable({ ...damaged, digest })]);

  beforeEach(async () => {
    await scene.joined();
    scene.client.calls.length = 0;
    await fetched();
  });

  it('is fetched again before anything of it is done', () => {
    expect(scene.client.calls).toEqual(['seek t 5']);
    expect(scene.offsets.flat()).not.toContain('t 9');
  });

  it('is delivered if it is intact in the next fetch: its bytes were damaged on their way', async () => {
    await scene.client.fetched('t', 5, 8);
    await eventually(() => scene.handled.length === 4);
  });

  it('is passed if it has the same bytes in the next fetch', async () => {
    await fetched();
    await eventually(() => scene.offsets.at(-1)?.includes('t 9'));
  });

  it('is fetched a third time if its bytes differ in the next fetch', async () => {
    await fetched('another');
    expect(scene.client.calls).toEqual(['seek t 5', 'seek t 5']);
    await fetched('another');
    await eventually(() => scene.offsets.at(-1)?.includes('t 9'));
  });
});
