import { describeBackbones } from '../support/backbones.js';
import { eventually } from '../support/eventually.js';
import { Served } from '../support/served.js';
import { jsonLines, run } from '../support/service.js';
import { paymentEvents } from '../support/story.js';

const PATIENCE = { timeout: 20_000 };
const OF_ACCOUNT = ['--account', '42'];

describeBackbones((backbone) => {
  let healthy = false;
  const respond = () => ({ status: healthy ? 200 : 503 });
  const served = Served.around({ respond, backbone, settings: { RETRY_SCHEDULE: '100ms' } });
  const lines = (...args: readonly string[]) => served.lines(...args);

  const add = (path: string, key: string) => served.addWebhook(path, 'cash_in', [{ key, value: 'planted-secret' }]);

  test('audit at shows the configuration as it stood', async () => {
    await add('/a', 'X-One');
    const between = new Date().toISOString();
    await eventually(() => Date.now() > Date.parse(between));
    await add('/a', 'X-Two');
    await add('/b', 'X-One');
    await eventually(async () => (await lines('audit', 'log', ...OF_ACCOUNT)).length === 6, PATIENCE);

    const at = (time: string) => lines('audit', 'at', ...OF_ACCOUNT, '--time', time);
    expect(await at(between)).toMatchObject([
      { url: `${served.receiver.url}/a`, version: 1, headers: [{ key: 'X-One' }] },
    ]);
    const now = await at(new Date().toISOString());
    expect(now).toMatchObject([
      { version: 2, headers: [{ key: 'X-Two' }] },
      { url: `${served.receiver.url}/b`, version: 1 },
    ]);
    expect(JSON.stringify(now)).not.toContain('planted-secret');
    const before = await served.command('audit', 'at', ...OF_ACCOUNT, '--time', '2020-01-01');
    expect(before).toMatchObject({ code: 1, stdout: '' });
    expect(await served.command('audit', 'at', ...OF_ACCOUNT, '--time', 'yesterday')).toMatchObject({
      code: 2,
    });
  });

  test('dead-letters replay tries again what was exhausted, once, under the same webhook-id', async () => {
    await served.publish(`not json\n${paymentEvents(42, 2)}`);
    const exhausted = async () => (await lines('dead-letters', 'list')).filter(({ reason }) => reason === 'exhausted');
    await eventually(async () => (await exhausted()).length === 4, PATIENCE);
    const letters = await lines('dead-letters', 'list');
    // In order within a partition; a topic has no order between its partitions.
    for (const partition of new Set(letters.map((letter) => letter.partition))) {
      const offsets = letters.filter((letter) => letter.partition === partition).map(({ offset }) => Number(offset));
      expect(offsets).toEqual(offsets.toSorted((a, b) => a - b));
    }
    const sent = served.receiver.requests.length;
    const ids = new Set(served.receiver.requests.map(({ headers }) => headers['webhook-id']));
    healthy = true;
    const { stdout } = await run(served.settings, ['dead-letters', 'replay', '--event', 'evt-0', '--json']);
    expect(jsonLines(stdout)).toHaveLength(2);
    expect(await lines('dead-letters', 'replay')).toHaveLength(2);
    await eventually(() => served.receiver.requests.length === sent + 4, PATIENCE);
    const replayed = new Set(served.receiver.requests.slice(sent).map(({ headers }) => headers['webhook-id']));
    expect(replayed).toEqual(ids);
    await eventually(async () => {
      const all = await lines('deliveries', 'list', ...OF_ACCOUNT);
      return all.every(({ outcome }) => outcome === 'delivered');
    }, PATIENCE);
    expect(await lines('dead-letters', 'replay')).toEqual([]);
  });

  test('projections are of the server that the store is on, if it is', async () => {
    const onServer = 'EVENT_STORE_URL' in served.settings;
    const deployed = await run(served.settings, ['projections', 'deploy', '--json']);
    expect(deployed.code).toBe(onServer ? 0 : 1);
    if (!onServer) expect(deployed.stderr).toMatch(/EVENT_STORE_URL/);
    else {
      expect(await lines('projections', 'status')).toHaveLength(2);
      expect(await lines('projections', 'verify')).toEqual([]);
      expect(await lines('projections', 'rebuild')).toHaveLength(2);
      expect(await lines('projections', 'verify')).toEqual([]);
    }
  });
});
