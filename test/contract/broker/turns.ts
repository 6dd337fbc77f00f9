import { type BrokerCase, brokerCase, named, records, texts } from './inbox.js';

const MANY = 900;
/** Several share the partition of the other key, however many partitions there are. */
const FEW_KEYS = named(40, 'key');
/** Calls: until a page is read, and then a dozen of those keys by turns with a dozen of the other one. */
const SOON = 200;

export const TAKES_TURNS = 'with turnsByKey a record whose key has none waiting goes before most of another key';

export const LETS_USUAL = 'with turnsByKey mayBegin may let begin only records of keys within their usual rate';

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
  brokerCase(LETS_USUAL, async (s) => {
    let onlyUsual = false;
    const { inbox } = await s.consume({ turnsByKey: true, mayBegin: (isUsual) => isUsual || !onlyUsual });
    await s.broker.publish(s.topic, records(named(40), 'steady'));
    await s.soon('records were not handed out', () => inbox.done.length === 40);
    onlyUsual = true;
    await s.broker.publish(s.topic, records(['other'], 'other'));
    // Its rate is usual once time has passed, and may be so no more when it has had what the rate allows.
    await s.soon('what is usual was not handed out', async () => {
      await s.broker.publish(s.topic, records(['more'], 'steady'));
      return texts(inbox.done).includes('more');
    });
    expect(texts(inbox.calls)).not.toContain('other');
    onlyUsual = false;
    await s.soon('the other was not handed out', () => texts(inbox.done).includes('other'));
  }),
];
