import type { ReceivedRecord } from '../../../src/ports/broker.js';
import { type BrokerCase, brokerCase, type Handle, named, type Scenario, textOf, texts } from './inbox.js';

export const ACCEPTS_ONCE = 'a record is accepted once, however often it is rejected';

const rejected = () => {
  throw new Error('rejected');
};

/** Rejects the records of these names while `broken()` says so. */
function rejecting(names: readonly string[], broken: () => boolean = () => true): Handle {
  return (received) => (names.includes(textOf(received)) && broken() ? rejected() : undefined);
}

const again: BrokerCase[] = [
  brokerCase('a record that was rejected comes again until it is not, and others go on meanwhile', async (s) => {
    await s.publish(['bad', ...named(20)]);
    let broken = true;
    const { inbox } = await s.consume({ inFlight: 2, handle: rejecting(['bad'], () => broken) });
    await s.soon('others did not go on', () => inbox.done.length === 20);
    await s.soon('it did not come again', () => texts(inbox.calls).filter((text) => text === 'bad').length >= 2);
    broken = false;
    await s.soon('it was skipped', () => texts(inbox.done).includes('bad'));
    expect(inbox.done).toHaveLength(21);
  }),
  brokerCase(ACCEPTS_ONCE, async (s) => {
    const accepted: ReceivedRecord[] = [];
    await s.publish(['bad', 'other']);
    const handle: Handle = (received, call) => (textOf(received) === 'bad' && call < 3 ? rejected() : undefined);
    const { inbox } = await s.consume({ handle, notBefore: (received) => accepted.push(received) });
    await s.soon('it was not handed out again', () => inbox.done.length === 2);
    expect([texts(accepted), inbox.calls.length]).toEqual([['bad', 'other'], 4]);
  }),
  brokerCase('the pause begins with 0.1 s and grows', async (s) => {
    const times: number[] = [];
    await s.publish(['bad']);
    const handle: Handle = (_, call) => {
      times.push(performance.now());
      if (call < 4) rejected();
    };
    const { inbox } = await s.consume({ handle });
    await s.soon('it was skipped', () => inbox.done.length === 1);
    const pauses = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    // A timer may end a millisecond early.
    for (const pause of pauses) expect(pause).toBeGreaterThanOrEqual(98);
    expect(pauses.at(-1)).toBeGreaterThan(150);
  }),
];

const limits: BrokerCase[] = [
  brokerCase('while it pauses it counts to no limit', async (s) => {
    const gate = s.gate();
    const handle: Handle = (received, call) => {
      if (textOf(received) !== 'bad') return gate.opened;
      if (call < 3) rejected();
      return undefined;
    };
    await s.publish(['bad', ...named(5)]);
    const { inbox } = await s.consume({ inFlight: 2, handle });
    await s.soon('it kept its place', () => inbox.unsettled === 2 && !heldBad(inbox.calls.slice(-2)));
    await s.witnessOfPauses(3);
    expect(inbox.mostUnsettled).toBe(2);
    gate.open();
    await s.soon('records were not handed out', () => inbox.done.length === 6);
    expect(inbox.mostUnsettled).toBe(2);
  }),
  brokerCase('while it pauses its bytes count: nothing new is begun where they are enough', async (s) => {
    const long = named(3).map((name) => name.padEnd(1_000, '.'));
    let broken = true;
    await s.publish([...long, ...named(5, 'later')]);
    const { inbox } = await s.consume({ inFlightBytes: 3_000, handle: rejecting(long, () => broken) });
    await s.soon('they did not come again', () => inbox.calls.length >= 9);
    expect(new Set(texts(inbox.calls)).size).toBe(3);
    broken = false;
    await s.soon('records were not handed out', () => inbox.done.length === 8);
  }),
  ...[1, 999].map((count) =>
    brokerCase(`with 1 in flight, ${count} that pause stop no others`, async (s) => {
      const bad = named(count, 'bad');
      let broken = true;
      await s.publish([...bad, ...named(5)]);
      const { inbox } = await s.consume({ inFlight: 1, handle: rejecting(bad, () => broken) });
      await s.soon('others did not go on', () => inbox.done.length === 5);
      broken = false;
      await s.soon('some were skipped', () => inbox.done.length === count + 5);
      expect(inbox.mostUnsettled).toBe(1);
    }),
  ),
];

const heldBad = (calls: Parameters<typeof texts>[0]) => texts(calls).includes('bad');

/** a and b are done, c never, d and e behind it are, and the consumer is closed: then `again` says how the group comes back. */
async function withGap(s: Scenario, comeBack: () => Promise<unknown>): Promise<void> {
  await s.publish(['a', 'b', 'c', 'd', 'e']);
  const { inbox, consumer } = await s.consume({ handle: rejecting(['c']) });
  await s.soon('others did not go on', () => inbox.done.length === 4);
  await s.within('close did not end', consumer.close());
  await comeBack();
  const second = await s.consume();
  await s.soon('the unfinished record did not come again', () => second.inbox.done.length >= 1);
  await s.publish(['f']);
  await s.soon('the next record was not handed out', () => texts(second.inbox.done).includes('f'));
  expect(texts(second.inbox.calls)).toEqual(['c', 'f']);
}

const prefix: BrokerCase[] = [
  brokerCase('an unfinished record comes again after close, and records done before and behind it do not', (s) =>
    withGap(s, async () => undefined),
  ),
  brokerCase('a record that is done after those behind it closes the gap', async (s) => {
    const gate = s.gate();
    await s.publish(['a', 'b', 'c']);
    const { inbox, consumer } = await s.consume({ handle: (r) => (textOf(r) === 'a' ? gate.opened : undefined) });
    await s.soon('others did not go on', () => inbox.done.length === 2);
    gate.open();
    await s.soon('it was not done', () => inbox.done.length === 3);
    await consumer.close();
    await s.publish(['d']);
    const second = await s.consume();
    await s.soon('the next record was not handed out', () => second.inbox.done.length === 1);
    expect(texts(second.inbox.calls)).toEqual(['d']);
  }),
];

export const rejectingCases = [...again, ...limits, ...prefix];
