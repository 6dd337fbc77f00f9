import { type Broker, BrokerUnavailable } from '../../../src/ports/broker.js';
import { errorOf, unique } from '../contract.js';
import { type BrokerCase, brokerCase, type Handle, named, record, textOf, texts } from './inbox.js';

const stopping: BrokerCase[] = [
  brokerCase('after stop the handler is called no more, not even for what was rejected before it', async (s) => {
    const handle: Handle = () => Promise.reject(new Error('rejected'));
    await s.publish(['bad']);
    const { inbox, consumer } = await s.consume({ handle });
    await s.soon('it was not handed out', () => inbox.calls.length === 1);
    consumer.stop();
    await s.witnessOfPauses(2);
    expect(inbox.calls).toHaveLength(1);
  }),
  brokerCase(
    'after stop nothing new is handed out: what was published, is published, or waited for room',
    async (s) => {
      const gate = s.gate();
      await s.publish(named(5));
      const { inbox, consumer } = await s.consume({ inFlight: 2, handle: () => gate.opened });
      await s.soon('records were not handed out', () => inbox.calls.length === 2);
      consumer.stop();
      gate.open();
      await s.publish(['late']);
      await s.witness(6);
      expect(texts(inbox.calls)).toEqual(['0', '1']);
    },
  ),
  brokerCase('what was rejected when its consumer was closed comes to the next one', async (s) => {
    await s.publish(['a', 'bad', 'c']);
    const handle: Handle = (received) =>
      textOf(received) === 'bad' ? Promise.reject(new Error('rejected')) : undefined;
    const { inbox, consumer } = await s.consume({ handle });
    await s.soon('records were not handed out', () => inbox.calls.length >= 3);
    await consumer.close();
    const calls = inbox.calls.length;
    const next = await s.consume();
    await s.publish(['d']);
    await s.soon('it was skipped', () => next.inbox.done.length === 2);
    expect(texts(next.inbox.calls)).toEqual(['bad', 'd']);
    expect(inbox.calls).toHaveLength(calls);
  }),
  brokerCase('parts of a record that were done when its consumer was closed are known to the next one', async (s) => {
    const known: boolean[][] = [];
    const handle: Handle = (_, __, hold) => {
      known.push([7, 8].map((part) => hold.isPartDone(part)));
      hold.partDone(7);
      return known.length === 1 ? Promise.reject(new Error('rejected')) : undefined;
    };
    await s.publish(['a']);
    const { consumer } = await s.consume({ handle });
    await s.soon('it was not handed out', () => known.length === 1);
    await consumer.close();
    await s.consume({ handle });
    await s.soon('it was skipped', () => known.length === 2);
    expect(known[1]).toEqual([true, false]);
  }),
  brokerCase('records done behind an unfinished one do not come again after a second close either', async (s) => {
    const bad = (received: Parameters<Handle>[0]) =>
      textOf(received) === 'bad' ? Promise.reject(new Error('rejected')) : undefined;
    await s.publish(['bad', ...named(150)]);
    const first = await s.consume({ handle: bad });
    await s.soon('records were not handed out', () => first.inbox.done.length === 150);
    await first.consumer.close();
    const second = await s.consume({ handle: bad });
    await s.soon('it was skipped', () => second.inbox.calls.length > 0);
    await second.consumer.close();
    await s.publish(['last']);
    const third = await s.consume();
    await s.soon('the last was not handed out', () => third.inbox.done.length === 2);
    expect(new Set(texts([...second.inbox.calls, ...third.inbox.calls]))).toEqual(new Set(['bad', 'last']));
  }),
];

const CLOSES = [
  ['Consumer.close', ({ consumer }) => consumer.close()],
  ["the broker's close", ({ broker }) => broker.close()],
] as const satisfies readonly (readonly [
  string,
  (of: { consumer: { close(): Promise<void> }; broker: Broker }) => Promise<void>,
])[];

const closingConsumers: BrokerCase[] = [
  ...CLOSES.map(([name, close]) =>
    brokerCase(`${name} waits for the promises still out, and remembers what they did`, async (s) => {
      const gate = s.gate();
      let ended = false;
      await s.publish(['a', 'b']);
      const { inbox, consumer } = await s.consume({ handle: () => gate.opened });
      await s.soon('records were not handed out', () => inbox.unsettled === 2);
      const closing = close({ consumer, broker: s.broker }).finally(() => {
        ended = true;
      });
      await inAnotherGroup();
      expect(ended).toBe(false);
      gate.open();
      await s.within('it did not end', closing);
      expect(inbox.done).toHaveLength(2);

      /** A closed broker has no other group; then these turns have to do. */
      async function inAnotherGroup(): Promise<void> {
        if (name === 'Consumer.close') return s.witnessOfPauses(2);
        for (const _ of named(20)) await new Promise((resolve) => setImmediate(resolve));
      }
    }),
  ),
  brokerCase('what was done while close waited does not come again', async (s) => {
    const gate = s.gate();
    await s.publish(['a', 'b']);
    const { inbox, consumer } = await s.consume({ handle: () => gate.opened });
    await s.soon('records were not handed out', () => inbox.unsettled === 2);
    const closing = consumer.close();
    gate.open();
    await s.within('close did not end', closing);
    await s.publish(['c']);
    const next = await s.consume();
    await s.soon('the next record was not handed out', () => next.inbox.done.length === 1);
    expect(texts(next.inbox.calls)).toEqual(['c']);
  }),
];

type Call = (broker: Broker, topic: string) => Promise<unknown>;
const CALLS: readonly (readonly [string, Call])[] = [
  ['publish', (broker, topic) => broker.publish(topic, [record('a')])],
  [
    'consume',
    (broker, topic) =>
      broker.consume({ topics: [topic], group: topic, inFlight: 1, accept: () => ({ handle: async () => {} }) }),
  ],
  ['listTopics', (broker) => broker.listTopics()],
  ['ensureTopics', (broker, topic) => broker.ensureTopics([topic])],
];

const closingBrokers: BrokerCase[] = [
  brokerCase("the broker's close closes its consumers: nothing is handed out any more", async (s) => {
    const { broker } = s;
    const consumed = [await s.consume(), await s.consume({ group: unique('group') })];
    await s.within('close did not end', broker.close());
    await s.within('a consumer is not closed', Promise.all(consumed.map(({ consumer }) => consumer.closed)));
  }),
  brokerCase(
    'close of one process leaves the others at work, and none of its calls comes after it',
    async (s) => {
      const other = await s.subject.another();
      const one = await s.consume();
      const two = await s.consume({ broker: other });
      await s.within('close did not end', s.broker.close());
      await other.publish(s.topic, [record('a')]);
      await s.soon('the other did not go on', () => two.inbox.done.length === 1);
      expect(one.inbox.calls).toEqual([]);
    },
    'sharedGroups',
  ),
  ...CALLS.map(([name, call]) =>
    brokerCase(`${name} after close rejects with BrokerUnavailable`, async (s) => {
      await s.publish(['a']);
      await s.broker.close();
      const error = await errorOf(s.subject, () => call(s.broker, s.topic));
      expect(error).toBeInstanceOf(BrokerUnavailable);
      expect(error).toMatchObject({ code: 'BROKER_UNAVAILABLE' });
    }),
  ),
  brokerCase(
    'a publish that gets no answer rejects with BrokerUnavailable',
    async (s) => {
      await s.publish(['a']);
      const answerAgain = await s.subject.stall();
      const error = await errorOf(s.subject, () => s.broker.publish(s.topic, [record('b')])).finally(answerAgain);
      expect(error).toBeInstanceOf(BrokerUnavailable);
    },
    'stall',
  ),
];

export const closing = [...stopping, ...closingConsumers, ...closingBrokers];
