import { StoreUnavailable } from '../../src/ports/event-store.js';
import { HeadWatch } from '../../src/read-model/head-watch.js';
import { silentLogger } from '../support/scenes/silent-logger.js';

let watch: HeadWatch;
let head: string;
beforeEach(() => {
  watch = new HeadWatch({
    store: { head: async () => head, isAtOrAfter: (position, other) => Number(position) >= Number(other) },
    ...{ logger: silentLogger, now: () => 0, onPassed: () => undefined, onStalled: () => undefined },
  });
});

const never = new AbortController().signal;
const pass = (to: string, signal = never) => {
  head = to;
  return watch.pass(signal);
};

test('a head that is behind is passed at once, one that is ahead when the subscription comes to it', async () => {
  watch.moved('5');
  await pass('5');
  const passed: string[] = [];
  const waits = [];
  for (const to of ['6', '8']) {
    waits.push(pass(to).then(() => passed.push(to)));
    await Promise.resolve();
  }
  watch.moved('7');
  await waits[0];
  expect(passed).toEqual(['6']);
  watch.moved('8');
  await Promise.all(waits);
  expect(passed).toEqual(['6', '8']);
});

test('with nothing committed yet it waits', async () => {
  const wait = pass('0');
  await Promise.resolve();
  watch.moved('0');
  await wait;
});

test('a lost connection ends every wait: the store may come back with an earlier head', async () => {
  watch.moved('5');
  const wait = pass('8');
  await Promise.resolve();
  watch.disconnected();
  await expect(wait).rejects.toThrow(StoreUnavailable);
  const next = pass('5');
  await Promise.resolve();
  watch.moved('5');
  await next;
});

test('rejects an aborted wait, before and during it', async () => {
  const stopping = new AbortController();
  const wait = pass('1', stopping.signal);
  await Promise.resolve();
  stopping.abort(new Error('stopping'));
  await expect(wait).rejects.toThrow('stopping');
  await expect(pass('1', stopping.signal)).rejects.toThrow('stopping');
  watch.moved('1');
});
