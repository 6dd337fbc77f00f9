import type { ReceivedRecord } from '../../../src/ports/broker.js';
import { record, records } from '../../contract/broker/inbox.js';
import { eventually } from '../../support/eventually.js';
import { SqliteFolder } from '../../support/sqlite-folder.js';

const LONGEST_TIMER_MS = 2_147_483_647;
const YEAR = 365 * 24 * 3_600_000;

let folder: SqliteFolder;
beforeEach(() => {
  folder = new SqliteFolder();
});
afterEach(async () => {
  jest.restoreAllMocks();
  await folder.close();
});

const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

test('a closed consumer leaves no timer behind, whatever it waited for', async () => {
  const { broker } = folder.open();
  await broker.publish('rejected', records(['a', 'b', 'c']));
  await broker.publish('later', [record('d')]);
  let calls = 0;
  let reject = () => undefined as unknown;
  const outstanding = new Promise<void>((_, no) => {
    reject = () => no(new Error('rejected'));
  });
  const handler = () => {
    calls += 1;
    return calls === 3 ? outstanding : Promise.reject(new Error('rejected'));
  };
  const before = timers();
  const notBefore = ({ topic, timestamp }: { topic: string; timestamp: number }) =>
    topic === 'later' ? timestamp + YEAR : 0;
  const consumer = await broker.consume({ topics: ['rejected', 'later'], group: 'g', inFlight: 3, handler, notBefore });
  const standby = await broker.consume({ topics: ['rejected'], group: 'g', inFlight: 3, handler });
  await eventually(() => calls === 3);
  await standby.close();
  const closing = consumer.close();
  reject();
  await closing;
  expect(timers()).toBe(before);
});

test('no timer is set for longer than a timer can be: it would end at once, again and again', async () => {
  const { broker } = folder.open();
  await broker.publish('later', [record('a')]);
  const setting = jest.spyOn(globalThis, 'setTimeout');
  let asked = 0;
  const notBefore = ({ timestamp }: { timestamp: number }) => {
    asked += 1;
    return timestamp + YEAR;
  };
  await broker.consume({ topics: ['later'], group: 'g', inFlight: 1, handler: async () => {}, notBefore });
  await eventually(() => asked > 0 && setting.mock.calls.length > 0);
  const delays = setting.mock.calls.map(([, ms]) => ms ?? 0);
  expect(Math.max(...delays)).toBeGreaterThan(60_000);
  expect(Math.max(...delays)).toBeLessThanOrEqual(LONGEST_TIMER_MS);
});

test('a group whose records were removed before they were done starts behind them', async () => {
  const { file, broker } = folder.open();
  await broker.publish('topic', records(['a', 'b', 'c']));
  let mayBegin = false;
  const handled: string[] = [];
  const consume = () =>
    broker.consume({
      topics: ['topic'],
      group: 'g',
      inFlight: 1,
      handler: async ({ value }) => void handled.push(String(value)),
      mayBegin: () => mayBegin,
    });
  await (await consume()).close();
  file.file.exec('DELETE FROM records WHERE offset < 2');
  mayBegin = true;
  await consume();
  await eventually(() => handled.length > 0);
  expect(handled).toEqual(['c']);
});

test('what a group did behind its offset is forgotten where removed records move that offset on', async () => {
  const { file, broker } = folder.open();
  await broker.publish('topic', records(['bad', 'done', 'bad', 'bad', 'bad']));
  const handled: string[] = [];
  const reject = async ({ value, offset }: ReceivedRecord) => {
    handled.push(`${offset}`);
    if (String(value) === 'bad') throw new Error('rejected');
  };
  const consume = (handler = reject) => broker.consume({ topics: ['topic'], group: 'g', inFlight: 9, handler });
  const first = await consume();
  await eventually(() => handled.length >= 5);
  await first.close();
  handled.length = 0;
  file.file.exec('DELETE FROM records WHERE offset < 2');
  await consume(async ({ offset }) => void handled.push(`${offset}`));
  await eventually(() => handled.length > 0 && handled.at(-1) === '4');
  expect(handled).toEqual(['2', '3', '4']);
});
