/**
 * The clock of the service's machine jumps under load, while attempts fail and retries wait: a day forward and back,
 * and an hour back. Nothing is lost, nothing waits longer than its delay, nothing spins, and a token is valid until its
 * exp.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { patience } from '../runner/patience.js';
import { cpuMs } from '../support/clients/process-stats.js';
import type { Service } from '../support/clients/service.js';
import { eventually } from '../support/clocks/eventually.js';
import { type Backbone, describeBackbones } from '../support/scenes/backbones.js';
import { failingFirst } from '../support/scenes/failing-first.js';
import { FaultScene } from '../support/scenes/fault-scene.js';
import { FaultyLibc, withFaultyLibc } from '../support/scenes/faulty-libc.js';
import { addWebhook, listWebhooks, paymentEvents, register, tokenFor } from '../support/scenes/story.js';
import type { ReceivedRequest, Reply } from '../support/servers/receiver.js';

const ACCOUNT = 7;
const PATHS = ['/one', '/two'];
const EVENTS = 60;
const HOUR_MS = 3_600_000;
const IN_AN_HOUR: Reply = { status: 503, headers: { 'retry-after': '3600' } };
const PATIENCE_MS = 30_000;
const PATIENCE = { timeout: PATIENCE_MS };
/** The first attempt for such an event fails: too few in a row to open a circuit breaker. */
const FAILS = /"id":"\w+-\d*3"/;
/** Its URL wants to be asked again in an hour: it waits in a tier of hours, whatever the clock does. A URL of its own, for it is paused. */
const STUCK = paymentEvents(ACCOUNT, 1, 'stuck-').trim().replace('cash_in', 'cash_out');
/**
 * The tiers of seconds are for a starved machine: there an attempt takes a second, so a URL looks as if it hung, and its
 * deliveries are deferred in one tier after the other. They must not come to those of hours.
 */
const RETRY_SCHEDULE = '1s,500ms,200ms,5s,5s,5s,5s,5s,1h,2h,3h';
/** Duration of the measurement, in which a busy loop would use nearly a whole core. */
const WATCHED_MS = 1_000;
const BUSY_MS = 600;

let scene: FaultScene;
let libc: FaultyLibc;
afterEach(async () => {
  await scene?.close();
  libc?.close();
});

const onEachBackbone = (backbone: Backbone) => {
  const failsFirst = failingFirst(FAILS);
  const respond = (request: ReceivedRequest): Reply =>
    request.body.toString() === STUCK ? IN_AN_HOUR : failsFirst(request);

  const jumps = [
    { jump: 'a day forward', ms: 24 * HOUR_MS, oldToken: 401, newTokenAfterwards: 200 },
    { jump: 'an hour back', ms: -HOUR_MS, oldToken: 200, newTokenAfterwards: 401 },
  ];
  test.each(jumps)(
    '$jump, and to the right time again: nothing is lost, and none is sent twice',
    async ({ jump, ms, oldToken, newTokenAfterwards }) => {
      scene = await FaultScene.open(backbone, { respond, settings: { RETRY_SCHEDULE } });
      libc = new FaultyLibc(String(scene.settings.DATA_DIR));
      const service = await scene.serve(libc.settings);
      const urls = scene.urls(...PATHS);
      const account = await register(scene.settings, ACCOUNT);
      const token = await scene.webhooks(service, account, urls);
      const publish = (name: string) => scene.publish(paymentEvents(ACCOUNT, EVENTS, name), urls);

      const [stuck = ''] = scene.urls('/stuck');
      await addWebhook(service.url, token, { url: stuck, eventType: 'cash_out' });
      scene.oracle.maybe(STUCK, [stuck]);
      await scene.publish(STUCK, []);
      // Midway: failed deliveries wait for a second by the clock before the jump.
      const before = publish('before-');
      await eventually(() => scene.receiver.requests.length > EVENTS / 2, PATIENCE);
      libc.shiftClock(ms);
      expect(await answerTo(service, token)).toBe(oldToken);
      const newToken = await tokenFor(service.url, account);
      expect(await answerTo(service, newToken)).toBe(200);
      await before;
      await publish('meanwhile-');
      await scene.nothingLost(PATIENCE_MS);
      const watchedAway = await cpuOf(service);

      const requests = scene.receiver.requests.length;
      const back = publish('back-');
      await eventually(() => scene.receiver.requests.length > requests + EVENTS / 2, PATIENCE);
      libc.shiftClock(0);
      expect(await answerTo(service, token)).toBe(200);
      expect(await answerTo(service, newToken)).toBe(newTokenAfterwards);
      await back;
      await publish('after-');
      await scene.nothingLost(PATIENCE_MS);
      const watchedBack = await cpuOf(service);

      expect(await service.stop('SIGTERM')).toBe(0);
      const verdict = scene.oracle.report(
        `the clock ${jump} and back, ${watchedAway} and ${watchedBack} ms CPU in ${WATCHED_MS} ms`,
      );
      expect(verdict).toEqual({ pairs: 4 * EVENTS * PATHS.length, lost: 0, sentTwice: 0, differing: 0, unexpected: 0 });
      expect(Math.max(watchedAway, watchedBack)).toBeLessThan(BUSY_MS * patience());
    },
  );

  test('retries that wait since the clock was a day ahead wait no longer than their delay', async () => {
    scene = await FaultScene.open(backbone, { respond, settings: { RETRY_SCHEDULE: '1s,500ms,200ms' } });
    libc = new FaultyLibc(String(scene.settings.DATA_DIR));
    libc.shiftClock(24 * HOUR_MS);
    const ahead = await scene.serve(libc.settings);
    const urls = scene.urls(...PATHS);
    await scene.account(ahead, ACCOUNT, urls);
    const events = ['a-', 'b-', 'c-'].map((name) => paymentEvents(ACCOUNT, 1, name).replace('-0', '-3'));
    await scene.publish(events.join(''), urls);
    await eventually(() => scene.receiver.requests.length >= events.length * PATHS.length, PATIENCE);
    expect(await ahead.stop('SIGTERM')).toBe(0);
    libc.shiftClock(0);
    await scene.serve(libc.settings);
    await scene.nothingLost(PATIENCE_MS);
    const verdict = scene.oracle.report('started again, a day before');
    expect(verdict).toEqual({
      pairs: events.length * PATHS.length,
      lost: 0,
      sentTwice: 0,
      differing: 0,
      unexpected: 0,
    });
  });
};

withFaultyLibc(() => describeBackbones(onEachBackbone));

const answerTo = async (service: Service, token: string) => (await listWebhooks(service, token)).status;

/** CPU time of the idle process, in ms. */
async function cpuOf({ pid }: Service): Promise<number> {
  const before = cpuMs(pid);
  await delay(WATCHED_MS);
  return Math.round(cpuMs(pid) - before);
}
