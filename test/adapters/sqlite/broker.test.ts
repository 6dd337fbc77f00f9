import { record, records } from '../../contract/broker/inbox.js';
import { eventually } from '../../support/clocks/eventually.js';
import { SqliteFolder } from '../../support/servers/sqlite-folder.js';

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

test('no timer is set for longer than a timer can be: it would end at once, again and again', async () => {
  const { broker } = folder.open();
  await broker.publish('later', [record('a')]);
  const setting = jest.spyOn(globalThis, 'setTimeout');
  let asked = 0;
  const accept = ({ timestamp }: { timestamp: number }) => {
    asked += 1;
    return { notBefore: timestamp + YEAR, handle: async () => {} };
  };
  await broker.consume({ topics: ['later'], group: 'g', inFlight: 1, accept });
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
      accept: () => ({ handle: async ({ value }) => void handled.push(String(value)) }),
      mayBegin: () => mayBegin,
    });
  await (await consume()).close();
  file.file.exec('DELETE FROM records WHERE offset < 2');
  mayBegin = true;
  await consume();
  await eventually(() => handled.length > 0);
  expect(handled).toEqual(['c']);
});

test('where keys take turns, no record is overtaken by more than 30,000 and a page', async () => {
  const { broker } = folder.open();
  const others = Array.from({ length: 40_000 }, (_, n) => record('x', `other-${n % 100}`));
  await broker.publish('topic', [...Array.from({ length: 500 }, () => record('x', 'first')), ...others]);
  let [furthest, overtaken, handled] = [0, 0, 0];
  const handle = async ({ offset }: { offset: number }) => {
    furthest = Math.max(furthest, offset);
    overtaken = Math.max(overtaken, furthest - offset);
    handled += 1;
  };
  await broker.consume({ topics: ['topic'], group: 'g', inFlight: 100, accept: () => ({ handle }), turnsByKey: true });
  await eventually(() => handled === 40_500, { timeout: 60_000 });
  expect(overtaken).toBeGreaterThan(29_000);
  expect(overtaken).toBeLessThanOrEqual(30_100);
});
