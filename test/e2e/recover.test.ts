/** An account recovers what its receiver missed, and the service is killed meanwhile. */
import { run } from '../support/clients/service.js';
import { eventually } from '../support/clocks/eventually.js';
import { describeBackbones } from '../support/scenes/backbones.js';
import { Served } from '../support/scenes/served.js';
import { paymentEvents } from '../support/scenes/story.js';

const COUNT = 60;
const SINCE = '2020-01-01T00:00:00Z';
const PATIENCE = { timeout: 30_000 };

describeBackbones((backbone) => {
  let isUp = false;
  const respond = () => ({ status: isUp ? 200 : 410 });
  const settings = { RETRY_SCHEDULE: '100ms', DELIVERY_TIMEOUT: '5s' };
  const served = Served.around({ respond, backbone, settings, isProcess: true });
  let webhook: number;
  beforeAll(async () => {
    await served.addWebhook('/');
    webhook = (await call<{ webhooks: { id: number }[] }>('GET', '/api/webhooks')).webhooks[0]?.id ?? 0;
  });

  const call = <T>(method: string, path: string, json?: object) => served.call<T>(method, path, json);

  const list = async (outcome: string) =>
    (await call<{ deliveries: { id: string }[] }>('GET', `/api/deliveries?limit=200&outcome=${outcome}`)).deliveries;
  const ids = () => served.receiver.requests.map(({ headers }) => String(headers['webhook-id']));

  test('a recovery that is killed goes on after the restart: each delivery goes out, and none twice but what was in flight', async () => {
    // Held, so that no breaker is open afterwards.
    await served.publish(paymentEvents(42, COUNT));
    await eventually(async () => (await list('exhausted')).length === COUNT, PATIENCE);
    isUp = true;
    await call('PATCH', `/api/webhooks/${webhook}`, { isActive: true });
    const before = ids().length;
    const preview = await call('GET', `/api/webhooks/${webhook}/recover?since=${SINCE}`);
    expect(preview).toMatchObject({ count: COUNT });
    const started = await call<{ id: string }>('POST', `/api/webhooks/${webhook}/recover`, {
      since: SINCE,
      perSecond: 20,
    });
    expect(started).toMatchObject({ success: true, count: COUNT });
    await eventually(() => ids().length - before >= 10, PATIENCE);
    const settled = (await list('delivered')).map(({ id }) => id);
    // A second later: the broker commits what is done every 100 ms, and what it has not may go out again.
    await eventually(() => ids().length - before >= settled.length + 20, PATIENCE);
    await served.service.stop('SIGKILL');
    await served.serve();
    const progress = () => call<{ state: string; delivered: number }>('GET', `/api/recoveries/${started.id}`);
    await eventually(async () => (await progress()).state === 'done', PATIENCE);
    await eventually(async () => (await list('delivered')).length === COUNT, PATIENCE);
    expect(await progress()).toMatchObject({ state: 'done', count: COUNT, sent: COUNT, delivered: COUNT, failed: 0 });
    const sent = ids().slice(before);
    expect(new Set(sent).size).toBe(COUNT);
    const times = (id: string) => sent.filter((one) => one === id).length;
    expect(settled.map(times)).toEqual(settled.map(() => 1));
    expect(Math.max(...sent.map(times))).toBeLessThanOrEqual(2);
    const audited = await run(served.settings, ['audit', 'completeness', '--from', SINCE, '--to', '2120-01-01']);
    expect(audited).toMatchObject({ code: 0 });
  });
});
