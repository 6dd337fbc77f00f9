/** What a consumer tells of a record that it handed out: whether it is still its own, and which parts of it are done. */
import type { Consumer, RecordHold } from '../../../src/ports/broker.js';
import { unique } from '../contract.js';
import { type BrokerCase, brokerCase, type Handle, named, placeOf, record, type Scenario, textOf } from './inbox.js';

const PARTITIONS = [0, 1, 2];

/** What a consumer holds, by the place of the record. */
class Holds {
  readonly byPlace = new Map<string, RecordHold>();

  handle(ended: Promise<void>): Handle {
    return (received, _, hold) => {
      this.byPlace.set(placeOf(received), hold);
      return ended;
    };
  }
}

/** Records of many keys, so that they are in all partitions, all of them with one consumer that ends none. */
async function allHeld(s: Scenario, ended: Promise<void>): Promise<Holds> {
  const holds = new Holds();
  await s.consume({ handle: holds.handle(ended), inFlight: 100 });
  for (const name of named(30)) await s.broker.publish(s.topic, [record(name, name)]);
  await s.soon('records were not handed out', () => holds.byPlace.size === 30);
  return holds;
}

async function joined(s: Scenario, second = s.broker): Promise<void> {
  const gate = s.gate();
  const first = await allHeld(s, gate.opened);
  const taken: string[] = [];
  const doubles: string[] = [];
  const handle: Handle = async (received) => {
    const place = placeOf(received);
    taken.push(place);
    if (await first.byPlace.get(place)?.isOwn()) doubles.push(place);
    await gate.opened;
  };
  await s.consume({ handle, broker: second, inFlight: 100 });
  await s.soon('the other was handed nothing', () => taken.length > 0);
  // What the first has kept is its own, and stays it.
  const kept = [...first.byPlace].filter(([place]) => !taken.includes(place));
  const own = await s.within('a hold says nothing', Promise.all(kept.map(([, hold]) => hold.isOwn())));
  expect(own).toContain(true);
  expect(doubles).toEqual([]);
}

/** Of each partition the first record is open and a part of it done; those behind it are done. */
async function handedOver(s: Scenario): Promise<void> {
  const open = s.gate();
  const isFirst = ({ offset }: { readonly offset: number }) => offset === 0;
  const handle: Handle = (received, _, hold) => {
    if (!isFirst(received)) return undefined;
    hold.partDone(7);
    return open.opened;
  };
  const { inbox } = await s.consume({ handle, inFlight: 100 });
  for (const name of named(30)) await s.broker.publish(s.topic, [record(name, name)]);
  await s.soon('records were not done', () => inbox.done.length + inbox.unsettled === 30);
  const parts: boolean[] = [];
  const noted: Handle = (received, _, hold) => {
    if (isFirst(received)) parts.push(hold.isPartDone(7), !hold.isPartDone(8));
  };
  const second = await s.consume({ handle: noted, inFlight: 100 });
  await s.soon('the other was handed nothing', () => second.inbox.calls.length > 0);
  expect(parts).not.toContain(false);
  await s.publish(['last']);
  open.open();
  const all = () => [...inbox.done, ...second.inbox.done];
  await s.soon('the last was not handed out', () => all().some((one) => textOf(one) === 'last'));
  expect(second.inbox.calls.filter((one) => !isFirst(one) && textOf(one) !== 'last')).toEqual([]);
}

export const OWNS =
  'a consumer owns the partitions that it has, though it takes no record, and none once it is stopped';
export const KEEPS = 'a record comes again with the content that its handler kept';
export const TAKES_NOTHING = 'with 0 in flight nothing is handed out, and nothing committed';

const owning: BrokerCase[] = [
  brokerCase(OWNS, async (s) => {
    const { consumer } = await s.consume({ inFlight: 0 });
    await s.soon('it owns no partition', () => consumer.isOwner(s.topic, 0));
    expect([consumer.isOwner(s.topic, 1_000), consumer.isOwner(unique('topic'), 0)]).toEqual([false, false]);
    consumer.stop();
    expect(consumer.isOwner(s.topic, 0)).toBe(false);
    await consumer.close();
    const next = await s.consume();
    await s.soon('the next owns no partition', () => next.consumer.isOwner(s.topic, 0));
    await next.consumer.close();
    expect([consumer, next.consumer].map((one) => one.isOwner(s.topic, 0))).toEqual([false, false]);
  }),
  brokerCase(TAKES_NOTHING, async (s) => {
    await s.publish(named(5));
    const { inbox, consumer } = await s.consume({ inFlight: 0 });
    await s.soon('it owns no partition', () => consumer.isOwner(s.topic, 0));
    await s.publish(['late']);
    await s.witness(6);
    await s.within('close did not end', consumer.close());
    expect([inbox.calls, await s.broker.committed(s.group, s.topic)]).toEqual([[], new Map()]);
  }),
  brokerCase(
    'where consumers join and leave, no two own a partition, and each is owned again',
    ownedOnce,
    'sharedGroups',
  ),
];

/** Looked at while others come and go. */
async function ownedOnce(s: Scenario): Promise<void> {
  const consumers: Consumer[] = [];
  let most = 0;
  const owners = (partition: number) => consumers.filter((one) => one.isOwner(s.topic, partition)).length;
  const isEachOwned = () => {
    const counts = PARTITIONS.map(owners);
    most = Math.max(most, ...counts);
    return counts.every((count) => count === 1);
  };
  const others = [s.broker, s.broker, await s.subject.another()];
  for (const broker of others) {
    consumers.push((await s.consume({ inFlight: 0, broker })).consumer);
    const [last] = consumers.slice(-1);
    const hasOne = () => PARTITIONS.some((partition) => last?.isOwner(s.topic, partition));
    await s.soon('a partition is not owned', () => isEachOwned() && hasOne());
  }
  const [first] = consumers;
  const closing = first?.close();
  await s.soon('a partition is not owned', isEachOwned);
  await closing;
  await s.soon('a partition is not owned', isEachOwned);
  expect([most, first?.isOwner(s.topic, 0)]).toEqual([1, false]);
}

export const holding: BrokerCase[] = [
  ...owning,
  brokerCase('a hold says yes while its consumer works, and no once that is closed', async (s) => {
    const holds: RecordHold[] = [];
    await s.publish(['a']);
    const { consumer } = await s.consume({ handle: (_, __, hold) => void holds.push(hold) });
    await s.soon('it was not handed out', () => holds.length === 1);
    expect(await holds[0]?.isOwn()).toBe(true);
    await consumer.close();
    expect(await holds[0]?.isOwn()).toBe(false);
  }),
  brokerCase('parts of a record that are done are known when it comes again, those of others are not', async (s) => {
    const known: boolean[][] = [];
    await s.publish(['a', 'b']);
    const handle: Handle = (received, call, hold) => {
      if (textOf(received) === 'b') return void known.push([hold.isPartDone(7)]);
      known.push([hold.isPartDone(7), hold.isPartDone(8)]);
      hold.partDone(7);
      return call === 1 ? Promise.reject(new Error('again')) : undefined;
    };
    const { inbox } = await s.consume({ handle, inFlight: 1 });
    await s.soon('they were not done', () => inbox.done.length === 2);
    expect(known).toEqual([[false, false], [false], [true, false]]);
  }),
  brokerCase(KEEPS, async (s) => {
    const less = { key: null, value: Buffer.from('less'), headers: [] };
    await s.publish(['all of it']);
    const texts: string[] = [];
    const handle: Handle = (received, call, hold) => {
      texts.push(textOf(received));
      if (call > 1) return undefined;
      hold.keep(less);
      return Promise.reject(new Error('again'));
    };
    const { inbox } = await s.consume({ handle });
    await s.soon('it was not done', () => inbox.done.length === 1);
    expect(texts).toEqual(['all of it', 'less']);
  }),
  brokerCase('where a consumer joins, a hold says no before the other is handed its record', joined, 'sharedGroups'),
  brokerCase('where a consumer joins, what was done behind a gap does not come again', handedOver, 'sharedGroups'),
];
