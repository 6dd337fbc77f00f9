/** Reading the events of a request leaves the event loop to others, and waits for nothing where there is little to read. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { FairQueue } from '../../../src/http/fair-queue.js';
import { recordsOf } from '../../../src/http/payment-events/read-events.js';
import { spin } from '../../support/clocks/spin.js';

const EVENT = Buffer.from('{"id":"pay-1","type":"cash_in","accountId":42}');

/** Finding each of them takes a ms. */
function* events(count: number): Iterable<Buffer> {
  for (let n = 0; n < count; n += 1) {
    spin(1);
    yield EVENT;
  }
}

const slices = new FairQueue();
const reading = (values: Iterable<Buffer>, body = EVENT) =>
  recordsOf(body, { valuesOf: () => values, headers: [] }, () => slices.pause({ owner: 'ledger', user: 'a client' }));

it('one event is read at once, while a large request of the same publisher waits for its turn', async () => {
  const large = reading(events(20));
  const small = reading([EVENT]).then(() => 'read');
  expect(await Promise.race([small, nextTurn('waits')])).toBe('read');
  expect(await large).toHaveLength(20);
});

it('large requests of a publisher are read by turns, and others come in between', async () => {
  const order: string[] = [];
  const large = ['a', 'b'].map(async (name) => {
    await reading(events(20));
    order.push(name);
  });
  const other = (async () => {
    for (let n = 0; n < 5; n += 1) await nextTurn();
    order.push('another');
  })();
  await Promise.all([...large, other]);
  expect(order[0]).toBe('another');
});

it('large single events of a publisher are read one per tick', async () => {
  let read = 0;
  function* event(): Iterable<Buffer> {
    read += 1;
    yield EVENT;
  }
  const body = Buffer.alloc(256 * 1024);
  const all = Promise.all(Array.from({ length: 8 }, () => reading(event(), body)));
  for (let ticks = 1; ticks <= 20; ticks += 1) {
    await nextTurn();
    expect(read).toBeLessThanOrEqual(ticks);
  }
  expect(await all).toHaveLength(8);
});
