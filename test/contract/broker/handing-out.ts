import { setImmediate as turn } from 'node:timers/promises';
import { unique } from '../contract.js';
import {
  type BrokerCase,
  brokerCase,
  type Handle,
  named,
  placeOf,
  record,
  type Scenario,
  textOf,
  texts,
} from './inbox.js';

const groups: BrokerCase[] = [
  brokerCase('a group that is new begins with the oldest record', async (s) => {
    await s.publish(named(5));
    const { inbox } = await s.consume();
    await s.soon('records were not handed out', () => inbox.done.length === 5);
    await s.publish(['later']);
    await s.soon('the later record was not handed out', () => inbox.done.length === 6);
    expect(texts(inbox.calls)).toEqual([...named(5), 'later']);
  }),
  brokerCase('a new group commits where it starts, before any record is done', async (s) => {
    await s.publish(named(5));
    const { opened } = s.gate();
    const { inbox } = await s.consume({ handle: () => opened });
    await s.soon('records were not handed out', () => inbox.calls.length === 5);
    const [{ partition } = { partition: -1 }] = inbox.calls;
    await s.soon('its start was not committed', async () => {
      return (await s.broker.committed(s.group, s.topic)).get(partition) === 0;
    });
  }),
  brokerCase('a group names the records that it has done after one that it has not', async (s) => {
    await s.publish(named(3));
    const { opened } = s.gate();
    const { inbox } = await s.consume({ handle: (one) => (textOf(one) === named(3)[0] ? opened : Promise.resolve()) });
    await s.soon('records were not handed out', () => inbox.calls.length === 3);
    const [first = { partition: -1, offset: -1 }, ...others] = inbox.calls;
    await s.soon('they were not named', async () => {
      const done = (await s.broker.completedAhead(s.group, s.topic)).get(first.partition)?.records ?? new Set();
      return others.every(({ offset }) => done.has(offset)) && !done.has(first.offset);
    });
  }),
  brokerCase('a group names the parts that it has done of a record that it has not', async (s) => {
    await s.publish(named(2));
    const { opened } = s.gate();
    const handle: Handle = (one, _, hold) => {
      hold.partDone(7);
      return textOf(one) === named(2)[0] ? opened : undefined;
    };
    const { inbox } = await s.consume({ handle });
    await s.soon('records were not handed out', () => inbox.calls.length === 2);
    const [first = { partition: -1, offset: -1 }, second = { offset: -1 }] = inbox.calls;
    await s.soon('they were not named', async () => {
      const ahead = (await s.broker.completedAhead(s.group, s.topic)).get(first.partition);
      return ahead?.records.has(second.offset) === true && ahead.parts.has(first.offset);
    });
    const ahead = (await s.broker.completedAhead(s.group, s.topic)).get(first.partition);
    expect(ahead).toEqual({ records: new Set([second.offset]), parts: new Map([[first.offset, new Set([7])]]) });
  }),
  brokerCase('two groups both get everything', async (s) => {
    const [one, two] = [await s.consume(), await s.consume({ group: unique('group') })];
    await s.publish(named(50));
    await s.soon('a group missed records', () => one.inbox.done.length === 50 && two.inbox.done.length === 50);
    expect([texts(one.inbox.calls), texts(two.inbox.calls)]).toEqual([named(50), named(50)]);
  }),
  brokerCase('a consumer gets the records of all its topics, and no others', async (s) => {
    const [other, foreign] = [unique('topic'), unique('topic')];
    const { inbox } = await s.consume({ topics: [s.topic, other] });
    await s.publish(['foreign'], foreign);
    await s.publish(['one']);
    await s.publish(['two'], other);
    await s.soon('records were not handed out', () => inbox.done.length === 2);
    await s.witness(1, { topics: [foreign] });
    expect(texts(inbox.calls).sort()).toEqual(['one', 'two']);
  }),
  brokerCase('what close has remembered is behind the group when the broker is opened again', async (s) => {
    await s.publish(named(5));
    const { inbox } = await s.consume();
    await s.soon('records were not handed out', () => inbox.done.length === 5);
    await s.subject.reopen();
    await s.publish(['next']);
    const again = await s.consume();
    await s.soon('the next record was not handed out', () => again.inbox.done.length === 1);
    expect(texts(again.inbox.calls)).toEqual(['next']);
  }),
];

/** A handler that takes a few turns of the event loop, and by which one record is never held twice. */
function exclusively(held: Set<string>, doubles: string[]): Handle {
  return async (received) => {
    const place = placeOf(received);
    if (held.has(place)) doubles.push(place);
    held.add(place);
    for (let turns = 0; turns < 5; turns += 1) await turn();
    held.delete(place);
  };
}

async function shared(s: Scenario): Promise<void> {
  const held = new Set<string>();
  const doubles: string[] = [];
  const handle = exclusively(held, doubles);
  const one = await s.consume({ handle });
  const two = await s.consume({ handle, broker: await s.subject.another() });
  for (const name of named(100)) await s.broker.publish(s.topic, [record(name, name)]);
  const all = () => new Set(texts([...one.inbox.done, ...two.inbox.done]));
  await s.soon('the two missed records', () => all().size === 100);
  expect(doubles).toEqual([]);
  // Where a group is rebalanced some may come twice; where both get everything nothing is shared.
  expect(one.inbox.done.length + two.inbox.done.length).toBeLessThan(200);
}

async function takenOver(s: Scenario): Promise<void> {
  const gate = s.gate();
  const handle: Handle = (received) => (textOf(received) === '0' ? undefined : gate.opened);
  await s.publish(named(10));
  const one = await s.consume({ handle, inFlight: 2 });
  await s.soon('records were not handed out', () => one.inbox.calls.length === 3);
  const two = await s.consume({ broker: await s.subject.another() });
  const closing = one.consumer.close();
  gate.open();
  await s.within('close did not end', closing);
  await s.soon('the other did not take over', () => two.inbox.done.length >= 7);
  // Where it joins first and the other is closed then, it may have been handed what the other still had.
  expect(texts(two.inbox.calls)).toEqual(expect.arrayContaining(named(10).slice(3)));
}

const sharing: BrokerCase[] = [
  brokerCase('two processes of a group never hold one record at a time, and miss none', shared, 'sharedGroups'),
  brokerCase(
    'where the consumer of a process is closed, that of another goes on with what is left',
    takenOver,
    'sharedGroups',
  ),
];

/** One of a few keys for each number. */
const keyOf = (number: number) => `key-${number % 5}`;

const order: BrokerCase[] = [
  brokerCase('first calls are made in the order of offsets, also while handlers end in any order', async (s) => {
    const handle: Handle = async ({ offset }) => {
      for (let turns = offset % 7; turns > 0; turns -= 1) await turn();
    };
    const batch = named(300).map((name, index) => record(name, keyOf(index)));
    await s.broker.publish(s.topic, batch);
    const { inbox } = await s.consume({ handle });
    // Each of them: at least once may also be twice.
    await s.soon('records were not handed out', () => new Set(inbox.done.map(placeOf)).size === 300);
    const last = new Map<number, number>();
    for (const { partition, offset } of inbox.firstCalls) {
      expect(offset).toBeGreaterThan(last.get(partition) ?? -1);
      last.set(partition, offset);
    }
    const ofKey = (of: typeof batch) => texts(of.filter(({ key }) => String(key) === keyOf(3)));
    expect(ofKey(inbox.firstCalls)).toEqual(ofKey(batch));
  }),
];

/** Publishes to the topics; as many as may be are held until everything could have been handed out. */
async function expectLimit(s: Scenario, topics: readonly string[], inFlight: number): Promise<void> {
  const gate = s.gate();
  for (const topic of topics) await s.publish(named(10), topic);
  const { inbox } = await s.consume({ topics, inFlight, handle: () => gate.opened });
  await s.soon('the limit was not reached', () => inbox.unsettled >= inFlight);
  await s.witness(topics.length * 10, { topics });
  expect(inbox.unsettled).toBe(inFlight);
  gate.open();
  await s.soon('records were not handed out', () => inbox.done.length === topics.length * 10);
  expect(inbox.mostUnsettled).toBe(inFlight);
}

const limit: BrokerCase[] = [
  ...[1, 4].map((inFlight) =>
    brokerCase(`of one partition ${inFlight} of ${inFlight} in flight are unsettled, never more`, (s) =>
      expectLimit(s, [s.topic], inFlight),
    ),
  ),
  brokerCase('the limit in flight holds over all topics together', (s) =>
    expectLimit(s, [s.topic, unique('topic'), unique('topic')], 5),
  ),
];

/** So many texts of 1,000 bytes each; their records also have a key. */
const long = (count: number) => named(count).map((name) => name.padEnd(1_000, '.'));

const bytes: BrokerCase[] = [
  brokerCase('with 2,007 bytes in flight 3 records of 1,003 bytes are unsettled, never more', async (s) => {
    const gate = s.gate();
    const [other, texts] = [unique('topic'), long(10)];
    await s.publish(texts);
    await s.publish(texts, other);
    const topics = [s.topic, other];
    const { inbox } = await s.consume({ topics, inFlight: 100, inFlightBytes: 2_007, handle: () => gate.opened });
    await s.soon('the limit was not reached', () => inbox.unsettled >= 3);
    await s.witness(20, { topics });
    expect(inbox.unsettled).toBe(3);
    gate.open();
    await s.soon('records were not handed out', () => inbox.done.length === 20);
    expect(inbox.mostUnsettled).toBe(3);
  }),
  brokerCase('one record always goes, however long it is and few bytes may be in flight', async (s) => {
    await s.publish(long(5));
    const { inbox } = await s.consume({ inFlightBytes: 1, handle: () => turn() });
    await s.soon('records were not handed out', () => inbox.done.length === 5);
    expect(inbox.mostUnsettled).toBe(1);
  }),
];

export const handingOut = [...groups, ...sharing, ...order, ...limit, ...bytes];
