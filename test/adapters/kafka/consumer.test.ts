import kafkajs from 'kafkajs';
import { decodedBehind } from '../../../src/adapters/common/done-behind.js';
import { KafkaConsumer } from '../../../src/adapters/kafka/consumer.js';
import { passed } from '../../../src/adapters/kafka/fetched/marks.js';
import type { KafkaConsumerParts } from '../../../src/adapters/kafka/group-client.js';
import type { TopicAdmin } from '../../../src/adapters/kafka/topic-admin.js';
import { BrokerRefused, BrokerUnavailable, type ReceivedRecord } from '../../../src/ports/broker.js';
import { eventually } from '../../support/eventually.js';
import { recordingLogger } from '../../support/recording-logger.js';
import { FakeKafkaClient } from '../../support/servers/fake-kafka-client.js';

/** Between two heartbeats of a test a busy machine may take a while. */
const STUCK_MS = 1_000;
const LONGER_THAN_STUCK_MS = 1.2 * STUCK_MS;

/** The offset of a record that is due in an hour. */
const NOT_DUE = 1_000;

let client: FakeKafkaClient;
let asked: string[][];
let starts: Map<string, number>;
/** What Kafka's answers with the group's offsets wait for. */
let answers: Promise<void>;
let leaderless: Set<string>;
let oldest: number;
let ensured: string[];
let handled: ReceivedRecord[];
let rejects: (record: ReceivedRecord) => boolean;
/** Where it is not the start. */
let committed: Record<string, { committed: number | null }>;
let consumer: KafkaConsumer;

beforeEach(() => begin());

async function begin(more: Pick<KafkaConsumerParts, 'stuckMs'> = {}): Promise<void> {
  client = new FakeKafkaClient();
  asked = [];
  ensured = [];
  answers = Promise.resolve();
  leaderless = new Set();
  oldest = 0;
  handled = [];
  committed = {};
  starts = new Map([
    ['t', 5],
    ['u', 0],
  ]);
  const admin = {
    groupStart: async (_group: string, topics: readonly string[]) => {
      asked.push([...topics]);
      await answers;
      if (topics.some((topic) => leaderless.has(topic))) throw new BrokerUnavailable('no leader');
      const known = topics.filter((topic) => starts.has(topic));
      const startOf = (topic: string) => ({
        offset: starts.get(topic),
        committed: starts.get(topic),
        ...committed[topic],
      });
      return new Map(known.map((topic) => [topic, new Map([[0, startOf(topic)]])]));
    },
    extent: async () => new Map([[0, { first: oldest, next: 100 }]]),
    ensureAgain: async (topics: readonly string[]) => void ensured.push(`ensure ${topics}`),
  } as unknown as TopicAdmin;
  const limits = { sessionTimeoutMs: 6_000, refusedAgainMs: 250 };
  const parts = { kafka: client.kafka, admin, ...limits, logger: recordingLogger(), ...more };
  rejects = () => false;
  const handler = async (record: ReceivedRecord) => {
    handled.push(record);
    if (rejects(record)) throw new Error('rejected');
  };
  const notBefore = ({ offset }: ReceivedRecord) => (offset === NOT_DUE ? Date.now() + 3_600_000 : 0);
  consumer = new KafkaConsumer(parts, { topics: ['t', 'u'], group: 'g', inFlight: 10, handler, notBefore });
  await consumer.start();
}

afterEach(() => consumer.close());

const offsets = () => client.commits.map((commit) => commit.map(({ topic, offset }) => `${topic} ${offset}`));

describe('its state', () => {
  const ofTopic = { topic: 't', partition: 0, unreadable: null };

  it('is connected from its first join on, and not after a crash', async () => {
    expect(consumer.state()).toEqual({ connected: false, inHand: 0, partitions: [] });
    await client.join({ t: [0] });
    expect(consumer.state().connected).toBe(true);
    await client.emit('CRASH', { error: new Error('Kafka is away'), restart: true });
    expect(consumer.state().connected).toBe(false);
  });

  it('has the lag, the records in hand and the next one', async () => {
    starts.set('t', NOT_DUE - 2);
    let isAway = true;
    rejects = () => isAway;
    await client.join({ t: [0] });
    await eventually(() => client.calls.includes(`seek t ${NOT_DUE - 2}`));
    expect(consumer.state().partitions).toEqual([{ ...ofTopic, behind: 0, head: null }]);
    await client.fetched('t', NOT_DUE - 2, NOT_DUE, NOT_DUE + 10);
    await eventually(() => handled.length >= 2);
    const head = { publishedAt: 0, overdueMs: 0 };
    expect(consumer.state()).toEqual({
      ...{ connected: true, inHand: 2 },
      partitions: [{ ...ofTopic, behind: 12, head }],
    });
    isAway = false;
    await eventually(() => consumer.state().inHand === 0);
    expect(consumer.state().partitions).toEqual([{ ...ofTopic, behind: 10, head }]);
  });

  it('has the lag of the last fetch, even one without records', async () => {
    await client.join({ t: [0] });
    await eventually(() => client.calls.includes('seek t 5'));
    await client.fetchedEnd('t', 25);
    // Of a partition that can't be fetched.
    await client.fetchedEnd('t', -1);
    expect(consumer.state().partitions).toEqual([{ ...ofTopic, behind: 20, head: null }]);
  });
});

describe('a partition that was assigned', () => {
  it('is not fetched before its place is known, and then from there', async () => {
    await client.join({ t: [0] });
    await eventually(() => client.calls.includes('seek t 5'));
    expect(client.calls).toEqual(['pause t', 'seek t 5', 'resume t']);
  });

  it('is fetched again from its place if a batch begins behind that: no record is passed over', async () => {
    await client.join({ t: [0] });
    await eventually(() => client.calls.includes('seek t 5'));
    await client.fetched('t', 8, 9);
    expect(client.calls.slice(3)).toEqual(['seek t 5']);
    await client.fetched('t', 5, 9);
    await eventually(() => handled.length === 5);
  });

  it('is opened though the place of another is not known; that is asked for again', async () => {
    starts.delete('t');
    await client.join({ t: [0], u: [0] });
    await eventually(() => client.calls.includes('seek u 0'));
    expect(client.calls).not.toContain('seek t 5');
    starts.set('t', 5);
    await eventually(() => client.calls.includes('seek t 5'));
    expect(asked).toEqual([['t', 'u'], ['t']]);
  });

  it('is opened while a partition of another topic has no leader', async () => {
    leaderless.add('u');
    await client.join({ t: [0], u: [0] });
    await eventually(() => client.calls.includes('seek t 5'));
    expect(client.calls).not.toContain('seek u 0');
    const unreadable = () => consumer.state().partitions.filter((one) => one.unreadable);
    expect(unreadable()).toMatchObject([{ topic: 'u', unreadable: { reason: 'no leader' } }]);
    leaderless.clear();
    await eventually(() => client.calls.includes('seek u 0'));
    expect(unreadable()).toEqual([]);
  });

  it('is not told of where another member got it before Kafka answered', async () => {
    leaderless.add('u');
    let answer = () => {};
    answers = new Promise((fulfil) => {
      answer = fulfil;
    });
    await client.join({ t: [0], u: [0] });
    await client.join({ t: [0] });
    answer();
    await eventually(() => client.calls.includes('seek t 5'));
    expect(consumer.state().partitions.map(({ topic }) => topic)).toEqual(['t']);
  });
});

describe('a partition whose group has no offset in it', () => {
  beforeEach(() => {
    committed = { t: { committed: null } };
  });

  it('is fetched from its start, which is committed though no record is done', async () => {
    await client.join({ t: [0], u: [0] });
    await eventually(() => offsets().flat().includes('t 5'));
    expect(client.calls).toContain('seek t 5');
  });

  it('ends the consumer where a permission for that is missing', async () => {
    answers = Promise.reject(new BrokerRefused('no right to read'));
    await client.join({ t: [0] });
    await expect(consumer.closed).rejects.toThrow('no right to read');
  });
});

describe('a fetch without records', () => {
  it('ends soon while a partition is paused, which may be resumed meanwhile, and waits longer while none is', async () => {
    starts.delete('t');
    await client.join({ t: [0], u: [0] });
    await eventually(() => client.calls.includes('resume u'));
    expect(await client.fetchWaitMs()).toBe(100);
    starts.set('t', 5);
    await eventually(() => client.calls.includes('seek t 5'));
    expect(await client.fetchWaitMs()).toBe(1_000);
  });

  it('ends soon once the consumer stops', async () => {
    await client.join({ t: [0] });
    await eventually(() => client.calls.includes('seek t 5'));
    expect(await client.fetchWaitMs()).toBe(1_000);
    consumer.stop();
    expect(await client.fetchWaitMs()).toBe(100);
  });
});

describe('a member with a new id, which was thought dead', () => {
  const rejoined = async (start: number) => {
    client.commit = () => Promise.reject(new Error('Kafka is away'));
    await client.join({ t: [0] });
    await eventually(() => client.calls.includes('seek t 5'));
    await client.fetched('t', 5, 9);
    await eventually(() => handled.length === 5 && client.commits.length > 0);
    client.commits.length = client.calls.length = 0;
    starts.set('t', start);
    await client.join({ t: [0] }, 'another-member');
    client.commit = async () => undefined;
    await eventually(() => client.calls.at(-1) === 'resume t' && client.calls.includes('pause t'));
  };

  it.each([5, 7, 10])(
    'goes on where it was, though the group stands at %d: what is done is not handed out',
    async (start) => {
      await rejoined(start);
      expect(client.calls).toContain('seek t 10');
      await client.fetched('t', 8, 11);
      await eventually(() => offsets().flat().includes('t 12'));
      expect(handled.map(({ offset }) => offset)).toEqual([5, 6, 7, 8, 9, 10, 11]);
    },
  );

  it.each([
    ['others were further', 11],
    ['the group was set back', 3],
    ['the topic may be another one of that name', 0],
  ])('goes to where the group stands where %s', async (_, start) => {
    await rejoined(start);
    expect(client.calls).toContain(`seek t ${start}`);
    await client.fetched('t', start, 12);
    await eventually(() => handled.at(-1)?.offset === 12);
    expect(handled[5]?.offset).toBe(start);
  });
});

describe('a member with a new id whose place is not known for a while', () => {
  it('is handed out anew what was rejected meanwhile', async () => {
    rejects = ({ offset }) => offset === 6;
    await client.join({ t: [0] });
    await eventually(() => client.calls.includes('seek t 5'));
    await client.fetched('t', 5, 7);
    await eventually(() => handled.length === 3);
    starts.delete('t');
    await client.join({ t: [0] }, 'another-member');
    await eventually(() => asked.length > 2);
    rejects = () => false;
    starts.set('t', 5);
    await eventually(() => client.calls.filter((call) => call.startsWith('seek')).length === 2);
    await client.fetched('t', 5, 7);
    await eventually(() => offsets().at(-1)?.includes('t 8'));
    expect(handled.filter(({ offset }) => offset === 6)).toHaveLength(2);
  });
});

it('is handed nothing that is answered about its place once it joins again', async () => {
  const seeks = () => client.calls.filter((call) => call.startsWith('seek')).length;
  let answer: () => void = () => undefined;
  await client.join({ t: [0] });
  await eventually(() => seeks() === 1);
  answers = new Promise((resolve) => {
    answer = resolve;
  });
  await client.join({ t: [0] }, 'another-member');
  await client.beginJoin();
  answer();
  await answers;
  await new Promise((resolve) => setImmediate(resolve));
  expect(seeks()).toBe(1);
  await client.join({ t: [0] }, 'another-member');
  await eventually(() => seeks() === 2);
});

it('is handed records of what it keeps where it loses a partition whose place is not known yet', async () => {
  await client.join({ t: [0], u: [0] });
  await eventually(() => client.calls.includes('seek u 0'));
  starts.delete('t');
  await client.join({ t: [0], u: [0] }, 'another-member');
  await client.join({ u: [0] }, 'another-member');
  await eventually(() => client.calls.filter((call) => call === 'seek u 0').length > 1);
  await client.fetched('u', 0, 1);
  await eventually(() => handled.length === 2);
});

describe('what is done', () => {
  beforeEach(async () => {
    await client.join({ t: [0] });
    await eventually(() => client.calls.includes('seek t 5'));
  });

  it('is committed the moment a rebalance begins', async () => {
    await client.fetched('t', 5, 9);
    await eventually(() => handled.length === 5);
    await client.beginJoin();
    expect(offsets()).toEqual([['t 10']]);
  });

  it('is committed by close although the group is just rebalancing: it is tried again', async () => {
    await client.fetched('t', 5, 9);
    await eventually(() => handled.length === 5);
    let refusals = 2;
    client.commit = async () => {
      if (refusals-- > 0) throw new Error('rebalancing');
    };
    await consumer.close();
    expect(offsets()).toEqual([['t 10'], ['t 10'], ['t 10']]);
  });

  it('is committed with the offset, if it is behind a record that is not done', async () => {
    rejects = ({ offset }) => offset === 6;
    await client.fetched('t', 5, 9);
    await eventually(() => client.commits.length > 0);
    const [commit] = client.commits.flat();
    expect(commit?.offset).toBe('6');
    expect(decodedBehind(commit?.metadata ?? '', 6)).toEqual({ records: new Set([7, 8, 9]), parts: new Map() });
  });

  it('is committed again where kafkajs dropped the commit and said nothing', async () => {
    client.dropsCommits = true;
    await client.fetched('t', 5, 9);
    await eventually(() => client.commits.length === 1);
    client.dropsCommits = false;
    await eventually(() => client.commits.length === 2);
    expect(offsets()).toEqual([['t 10'], ['t 10']]);
  });

  it('includes what holds nothing for anybody, as an aborted transaction', async () => {
    await client.fetchedMessages('t', { first: 5, last: 99, end: 101 }, [passed(99)]);
    await client.fetched('t', 100, 100);
    await eventually(() => handled.length === 1);
    await consumer.close();
    expect(offsets()).toEqual([['t 101']]);
  });

  it('of a full partition goes on while the client is in no group: nothing is lost from hand', async () => {
    await client.fetched('t', 5, 604);
    client.inNoGroup = true;
    await eventually(() => handled.length === 600);
    client.inNoGroup = false;
    await eventually(() => offsets().at(-1)?.includes('t 605'));
  });

  it('reports a partition that the broker cannot read, until a fetch of it succeeds, even without records', async () => {
    const unreadable = () => consumer.state().partitions[0]?.unreadable?.reason ?? null;
    const fails = (reason: string, end = -1) => client.fetchedEnd('t', end, { fault: { kind: 'unreadable', reason } });
    await fails('CORRUPT_MESSAGE');
    expect(unreadable()).toBe('CORRUPT_MESSAGE');
    expect(client.calls.at(-1)).toBe('pause t');
    await fails('CORRUPT_MESSAGE');
    await eventually(() => client.calls.at(-1) === 'resume t');
    await fails('an invalid length', 9);
    expect(unreadable()).toBe('an invalid length');
    await client.fetchedEnd('t', -1);
    expect(unreadable()).toBe('an invalid length');
    await client.fetchedEnd('t', 5);
    expect(unreadable()).toBeNull();
    await client.fetched('t', 5, 6);
    await eventually(() => handled.length === 2);
  });
});

describe('where the log lacks the fetched offset', () => {
  const OUT_OF_RANGE = { fault: { kind: 'no-offset', reason: 'OFFSET_OUT_OF_RANGE' } } as const;

  /** In hand are 5 to 9, of which 5 is not done. */
  const lacks = async (from: number, first: number) => {
    await client.join({ t: [0] });
    await eventually(() => client.calls.includes('seek t 5'));
    let isAway = true;
    rejects = ({ offset }) => offset === 5 && isAway;
    await client.fetched('t', 5, 9);
    await eventually(() => handled.length >= 5);
    client.calls.length = client.commits.length = 0;
    oldest = first;
    starts.set('t', first);
    await client.fetchedEnd('t', -1, { from, ...OUT_OF_RANGE });
    await eventually(() => client.calls.at(-1) === 'resume t');
    return () => {
      isAway = false;
    };
  };

  it('begins anew where the topic was recreated, and does not commit what is in hand', async () => {
    await lacks(30, 20);
    expect(client.calls.filter((call) => call.startsWith('seek'))).toEqual(['seek t 20']);
    await client.fetched('t', 20, 21);
    await eventually(() => offsets().length > 0);
    expect(offsets()[0]).toEqual(['t 22']);
  });

  it('goes on behind records that were deleted, and what is in hand is done', async () => {
    const comesBack = await lacks(10, 20);
    expect(client.calls.filter((call) => call.startsWith('seek'))).toEqual(['seek t 20']);
    comesBack();
    await eventually(() => offsets().flat().includes('t 20'));
  });

  it('goes on where it is if kafkajs moved its own offset', async () => {
    await lacks(2, 4);
    expect(client.calls.filter((call) => call.startsWith('seek'))).toEqual(['seek t 10']);
  });
});

describe('a client that its group does not confirm', () => {
  beforeEach(async () => {
    await consumer.close();
    await begin({ stuckMs: STUCK_MS });
  });

  const made = () => ({ made: client.made, runs: client.runs });

  it('is given up: another one takes its place, and goes on where it was', async () => {
    await client.join({ t: [0] });
    await eventually(() => client.calls.includes('seek t 5'));
    await client.fetched('t', 5, 9);
    await eventually(() => client.made > 1 && client.runs > 1);
    expect(client.disconnects).toBeGreaterThan(0);
    starts.set('t', 10);
    await client.join({ t: [0] }, 'another-member');
    await eventually(() => client.calls.at(-1) === 'resume t' && client.calls.includes('seek t 10'));
    await client.fetched('t', 8, 11);
    await eventually(() => offsets().at(-1)?.includes('t 12'));
    expect(handled.map(({ offset }) => offset)).toEqual([5, 6, 7, 8, 9, 10, 11]);
  });

  it('is given up though it fetches and its heartbeats are answered: a join that it began never ended', async () => {
    await client.join({ t: [0] });
    expect(consumer.state().connected).toBe(true);
    await client.beginJoin();
    await eventually(async () => {
      await client.heartbeat();
      await client.emit('FETCH_START', {});
      return !consumer.state().connected;
    });
    await eventually(async () => {
      await client.heartbeat();
      return client.made > 1 && client.runs > 1;
    });
  });

  it('is kept while its heartbeats are answered', async () => {
    await client.join({ t: [0] });
    const until = performance.now() + LONGER_THAN_STUCK_MS;
    await eventually(async () => {
      await client.heartbeat();
      return performance.now() > until;
    });
    expect(made()).toEqual({ made: 1, runs: 1 });
    expect(consumer.state().connected).toBe(true);
  });

  it('neither joins nor fetches once it is closed: kafkajs runs on in the middle of a join', async () => {
    const { cluster } = client;
    await consumer.close();
    await expect(cluster.findGroupCoordinator({ groupId: 'g' })).rejects.toThrow('the client was replaced or closed');
  });

  it('neither joins nor fetches nor starts again once another one has its place', async () => {
    const { restartOnFailure, cluster } = client;
    await eventually(() => client.made > 1);
    const replaced = { name: 'KafkaJSNonRetriableError', message: 'the client was replaced or closed' };
    await expect(cluster.findGroupCoordinator({ groupId: 'g' })).rejects.toMatchObject(replaced);
    await expect(cluster.findBroker({ nodeId: '1' })).rejects.toMatchObject(replaced);
    expect(await restartOnFailure(new Error('Kafka is away'))).toBe(false);
    await client.beginJoin();
    expect(await client.restartOnFailure(new Error('Kafka is away'))).toBe(true);
  });

  it('is kept while it joined and only its place is not known: that is asked for again', async () => {
    await client.join({ t: [0] });
    await eventually(() => client.calls.includes('seek t 5'));
    starts.delete('t');
    await client.join({ t: [0] }, 'another-member');
    const until = performance.now() + LONGER_THAN_STUCK_MS;
    await eventually(async () => {
      await client.heartbeat();
      return performance.now() > until;
    });
    expect(made()).toEqual({ made: 1, runs: 1 });
  });

  it('is not replaced once the consumer stops', async () => {
    consumer.stop();
    const until = performance.now() + LONGER_THAN_STUCK_MS;
    await eventually(() => performance.now() > until);
    expect(made()).toEqual({ made: 1, runs: 1 });
  });
});

it('closes the connections of a client that could not start: kafkajs would not open others', async () => {
  client.subscribe = async () => Promise.reject(new Error('Broker not connected'));
  const { disconnects } = client;
  await expect(consumer.start()).rejects.toThrow(BrokerUnavailable);
  expect(client.disconnects).toBe(disconnects + 1);
});

describe('a crash', () => {
  const lost = new kafkajs.KafkaJSNumberOfRetriesExceeded(new Error('lost'), { retryCount: 5, retryTime: 300 });

  it('is not the end where a new try may mend it', async () => {
    expect(await client.restartOnFailure(lost)).toBe(true);
    await client.emit('CRASH', { error: lost, restart: true });
    expect(ensured).toEqual([]);
  });

  it('is not the end where kafkajs found no coordinator and gave up: it is started again', async () => {
    const missing = Object.assign(new Error('Failed to find group coordinator'), {
      name: 'KafkaJSGroupCoordinatorNotFound',
    });
    const runs = client.runs;
    await client.emit('CRASH', { error: missing, restart: false });
    await eventually(() => client.runs === runs + 1);
  });

  it('is not the end where Kafka did not answer our own question about a topic that others subscribe to', async () => {
    const cause = new BrokerUnavailable('Kafka did not answer in time');
    const unanswered = Object.assign(new kafkajs.KafkaJSNonRetriableError('a failed join'), { cause });
    const runs = client.runs;
    await client.emit('CRASH', { error: unanswered, restart: false });
    await eventually(() => client.runs === runs + 1);
  });

  it('makes the topics anew where one is gone', async () => {
    const unknown = Object.assign(new Error('gone'), { type: 'UNKNOWN_TOPIC_OR_PARTITION' });
    await client.emit('CRASH', { error: unknown, restart: true });
    expect(ensured).toEqual(['ensure t,u']);
  });

  it('is the end where Kafka will not have us: no new try, and closed is rejected', async () => {
    const refused = new kafkajs.KafkaJSNumberOfRetriesExceeded(
      Object.assign(new Error('not permitted'), { type: 'GROUP_AUTHORIZATION_FAILED' }),
      { retryCount: 5, retryTime: 300 },
    );
    expect(await client.restartOnFailure(refused)).toBe(false);
    await client.emit('CRASH', { error: refused, restart: false });
    await expect(consumer.closed).rejects.toThrow(BrokerRefused);
  });
});
