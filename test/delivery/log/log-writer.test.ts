import { logEntry, readLogRecord } from '../../../src/delivery/log/log-record.js';
import { LogWriter } from '../../../src/delivery/log/log-writer.js';
import type { RoutedEntry } from '../../../src/ports/log-entry.js';
import { eventually } from '../../support/clocks/eventually.js';
import { deliveryTo } from '../../support/generators/delivery-samples.js';
import { silentLogger } from '../../support/scenes/silent-logger.js';
import { RecordingBroker } from '../../support/servers/recording-broker.js';

const TOPIC = 'webhooks.deliveries';

let broker: RecordingBroker;
let abandon: AbortController;
let log: LogWriter;
beforeEach(() => {
  broker = new RecordingBroker();
  abandon = new AbortController();
  log = writer();
});

function writer(): LogWriter {
  const signals = { abandon: abandon.signal, refused: () => undefined };
  return new LogWriter({ broker, logger: silentLogger, ...signals, topic: TOPIC, store: 'store-1' });
}

const routed = (offset: number): RoutedEntry => {
  const event = { accountId: 42, eventId: `pay-${offset}`, eventType: 'cash_in' };
  return { ...event, payment: `payment-events/0/${offset}@1000`, routed: 3, confirmed: 4, webhooks: [1, 2] };
};
const delivered = (eventId: string) => logEntry(deliveryTo(1, { eventId }), 'delivered', null, null);
const add = (eventId: string) => log.add('deliveries', delivered(eventId));
const written = () => broker.of(TOPIC).map(readLogRecord);
const eventIds = () => written().map(({ deliveries }) => deliveries.map(({ eventId }) => eventId));
const named = (count: number, text = 'pay') => Array.from({ length: count }, (_, n) => `${text}-${n}`);

test('entries of all kinds that come together share a record, and read as they were written', async () => {
  await Promise.all([log.add('routed', routed(7)), add('pay-1'), log.add('routed', routed(8))]);
  const deliveries = [JSON.parse(JSON.stringify(delivered('pay-1')))];
  expect(written()).toEqual([{ store: 'store-1', deliveries, routed: [routed(7), routed(8)] }]);
});

test('all records of a writer have one key, and those of another one another', async () => {
  await Promise.all(named(250).map(add));
  await writer().add('routed', routed(7));
  const keys = broker.of(TOPIC).map(({ key }) => String(key));
  expect([keys.length, new Set(keys.slice(0, 3)).size, new Set(keys).size]).toEqual([4, 1, 2]);
});

test('a hundred entries are not waited with', async () => {
  await Promise.all(named(250).map(add));
  expect(eventIds().map(({ length }) => length)).toEqual([100, 100, 50]);
  expect(eventIds().flat()).toEqual(named(250));
});

describe('a record that would be too large', () => {
  test('is divided at 256 KiB', async () => {
    const ids = named(5, 'x'.repeat(100_000));
    await Promise.all(ids.map(add));
    expect(eventIds().flat().sort()).toEqual(ids);
    for (const { value } of broker.of(TOPIC)) expect(value?.length).toBeLessThan(256 * 1024);
  });

  test('with one entry is written all the same', async () => {
    await add('x'.repeat(300_000));
    expect(written()).toHaveLength(1);
  });
});

test('a broker that takes nothing is waited for, with another key: a partition may have no leader', async () => {
  await add('zero');
  broker.failing.add(TOPIC);
  const first = add('one');
  await eventually(() => broker.refused === 1);
  const second = add('two');
  broker.failing.clear();
  await Promise.all([first, second]);
  expect(eventIds().flat().sort()).toEqual(['one', 'two', 'zero']);
  expect(new Set(broker.of(TOPIC).map(({ key }) => String(key))).size).toBe(2);
});
