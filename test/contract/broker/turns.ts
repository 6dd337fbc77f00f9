import { type BrokerCase, brokerCase, named, records, texts } from './inbox.js';

const MANY = 900;
/** Several share the partition of the other key, however many partitions there are. */
const FEW_KEYS = named(40, 'key');
/** Calls: until a page is read, and then each of those keys by turns with the other one. */
const SOON = 100;

export const TAKES_TURNS = 'with turnsByKey a record whose key has none waiting goes before most of another key';

export const turns: BrokerCase[] = [
  brokerCase(TAKES_TURNS, async (s) => {
    // In one call: one batch for each partition, so that none is fetched later than the others of its partition.
    const few = FEW_KEYS.flatMap((key) => records([key], key));
    await s.broker.publish(s.topic, [...records(named(MANY), 'much'), ...few]);
    const { inbox } = await s.consume({ turnsByKey: true, inFlight: 1 });
    await s.soon('records were not handed out', () => inbox.done.length === MANY + FEW_KEYS.length);
    const { partition } = inbox.calls.find(({ key }) => String(key) === 'much') ?? {};
    const own = texts(inbox.calls.filter((call) => call.partition === partition));
    const others = FEW_KEYS.map((key) => own.indexOf(key)).filter((at) => at !== -1);
    expect(others.length).toBeGreaterThan(0);
    expect(Math.max(...others)).toBeLessThan(SOON);
    const called = texts(inbox.calls);
    expect(called.filter((text) => !FEW_KEYS.includes(text))).toEqual(named(MANY));
  }),
];
