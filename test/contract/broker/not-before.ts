import type { ReceivedRecord } from '../../../src/ports/broker.js';
import { unique } from '../contract.js';
import { type BrokerCase, brokerCase, named, record, type Scenario, texts } from './inbox.js';

const HOUR = 3_600_000;
const YEAR = 365 * 24 * HOUR;

/** Later than the record was published by as many ms as its value says. */
const asItSays = ({ timestamp, value }: ReceivedRecord) => timestamp + Number(value);

/** Two keys whose records are in different partitions. */
async function keysApart(s: Scenario): Promise<[string, string]> {
  const probe = unique('topic');
  await s.broker.publish(
    probe,
    named(64).map((name) => record(name, name)),
  );
  const [first, ...rest] = await s.browse(probe);
  const second = rest.find(({ partition }) => partition !== first?.partition);
  return [String(first?.key), String(second?.key)];
}

export const notBefore: BrokerCase[] = [
  brokerCase('a record is handed out when it is due, and not before', async (s) => {
    const times: number[] = [];
    const { inbox } = await s.consume({ notBefore: asItSays, handle: () => void times.push(Date.now()) });
    await s.publish(['300']);
    await s.soon('it was not handed out', () => inbox.done.length === 1);
    expect(times[0]).toBeGreaterThanOrEqual((inbox.calls[0]?.timestamp ?? 0) + 300);
  }),
  brokerCase('those behind a waiting record of its partition wait with it', async (s) => {
    const times: number[] = [];
    const { inbox } = await s.consume({ notBefore: asItSays, handle: () => void times.push(Date.now()) });
    await s.publish(['0', '300', '1', '200']);
    await s.soon('they were not handed out', () => inbox.done.length === 4);
    expect(texts(inbox.calls)).toEqual(['0', '300', '1', '200']);
    const due = (inbox.calls[1]?.timestamp ?? 0) + 300;
    for (const time of times.slice(1)) expect(time).toBeGreaterThanOrEqual(due);
  }),
  brokerCase('waiting records count to no limit and block no other topic, however long they wait', async (s) => {
    const [hour, year] = [unique('topic'), unique('topic')];
    await s.publish([String(HOUR), '0'], hour);
    await s.publish([String(YEAR), '0'], year);
    const topics = [hour, year, s.topic];
    const { inbox } = await s.consume({ topics, inFlight: 1, notBefore: asItSays });
    for (const _ of named(5)) await s.publish(['0', '0']);
    await s.soon('the other topic was blocked', () => inbox.done.length >= 10);
    await s.witnessOfPauses(2);
    expect(new Set(inbox.calls.map(({ topic }) => topic))).toEqual(new Set([s.topic]));
    expect(inbox.calls).toHaveLength(10);
  }),
  brokerCase(
    'waiting records block no other partition',
    async (s) => {
      const [waiting, free] = await keysApart(s);
      await s.broker.publish(s.topic, [record(String(HOUR), waiting)]);
      const { inbox } = await s.consume({ inFlight: 1, notBefore: asItSays });
      for (const _ of named(5)) await s.broker.publish(s.topic, [record('0', free)]);
      await s.soon('the other partition was blocked', () => inbox.done.length >= 5);
      expect(texts(inbox.calls)).not.toContain(String(HOUR));
    },
    'sharedGroups',
  ),
  brokerCase('a record that waits does not hold up close, and comes later', async (s) => {
    await s.publish([String(HOUR)]);
    const { consumer } = await s.consume({ notBefore: asItSays });
    await s.within('close did not end', consumer.close());
    const { inbox } = await s.consume();
    await s.soon('it was lost', () => inbox.done.length === 1);
  }),
];
