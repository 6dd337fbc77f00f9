/** Kafka accepts connections and does not answer, as if stopped, stuck, or behind a broken network. */
import { setTimeout as delay } from 'node:timers/promises';
import { patience } from '../runner/patience.js';
import { startKafka } from '../services/kafka/kafka-server.js';
import { readiness, run, type Service } from '../support/clients/service.js';
import { eventually } from '../support/clocks/eventually.js';
import { failingFirst } from '../support/scenes/failing-first.js';
import { FaultScene } from '../support/scenes/fault-scene.js';
import { kafkaSettingsOn, onKafka } from '../support/scenes/kafka-installation.js';
import { paymentEvents } from '../support/scenes/story.js';
import { startMuteKafka } from '../support/servers/mute-kafka.js';
import { type OwnKafka, withOwnKafka } from '../support/servers/own-kafka.js';

const ACCOUNT = 7;
const PATHS = ['/one', '/two'];
const EVENTS = 200;
/** Of each URL's events: too few for its breaker to open, or for its window to stay at one attempt at a time. */
const EVERY_FIFTH = /"id":"[\w-]*[38]"/;
/** The tiers of 30 s are for a starved machine, where a delivery must not come to its time limit. */
const RETRY_SCHEDULE = '200ms,400ms,800ms,30s,30s,30s,30s';
const PATIENCE = { timeout: 40_000 };
const SILENT_FOR_MS = 10_000;
/** About ten seconds, plus the time to start four processes; kafkajs by itself takes thirty. */
const COMMANDS_END_WITHIN_MS = 25_000;
const STOPS_WITHIN_MS = 10_000;

let scene: FaultScene;
afterEach(() => scene?.close());

async function expectToStopInTime(service: Pick<Service, 'stop'>): Promise<void> {
  const asked = performance.now();
  expect(await service.stop('SIGTERM')).toBe(0);
  expect(performance.now() - asked).toBeLessThan(STOPS_WITHIN_MS * patience());
}

const COMMANDS = [
  ['events', 'publish'],
  ['deliveries', 'list', '--account', '7'],
  ['dead-letters', 'list'],
  ['dead-letters', 'replay'],
];

test('a start waits until SIGTERM; commands end in time, with one line that says why, and exit code 1', async () => {
  const kafka = await startMuteKafka();
  scene = await FaultScene.open(onKafka(kafkaSettingsOn(kafka.brokers), kafka.close));
  const begun = performance.now();
  const ended = await Promise.all(COMMANDS.map((args) => run(scene.settings, args, paymentEvents(ACCOUNT, 1))));
  expect(performance.now() - begun).toBeLessThan(COMMANDS_END_WITHIN_MS * patience());
  const stderr = 'account-webhooks: Kafka at BROKER_URL did not answer in time (TOOK_TOO_LONG)\n';
  expect(ended).toEqual(COMMANDS.map(() => ({ code: 1, stdout: '', stderr })));
  const starting = await scene.starting();
  await eventually(() => starting.log().includes('(TOOK_TOO_LONG)'), PATIENCE);
  await expectToStopInTime(starting);
});

withOwnKafka(() => {
  let kafka: OwnKafka;

  /**
   * A service that has delivered some of many events. Its receiver fails the first attempt for every fifth: these deliveries pass
   * through Kafka once more.
   */
  async function atWork(): Promise<{ service: Service; urls: readonly string[] }> {
    kafka = await startKafka();
    scene = await FaultScene.onKafka(kafka, { respond: failingFirst(EVERY_FIFTH), settings: { RETRY_SCHEDULE } });
    const service = await scene.serve();
    scene.onClose(() => kafka.signal('SIGCONT'));
    const urls = scene.urls(...PATHS);
    await scene.account(service, ACCOUNT, urls);
    await scene.publish(paymentEvents(ACCOUNT, EVENTS), urls);
    await eventually(() => scene.receiver.requests.length > EVENTS, PATIENCE);
    return { service, urls };
  }

  test('ten seconds of silence while it works: nothing is lost, and it goes on by itself', async () => {
    const { service, urls } = await atWork();
    kafka.signal('SIGSTOP');
    await delay(SILENT_FOR_MS);
    kafka.signal('SIGCONT');
    await scene.publish(paymentEvents(ACCOUNT, 20, 'after-'), urls);
    await scene.nothingLost(PATIENCE.timeout);
    const verdict = scene.oracle.report('Kafka stopped for ten seconds');
    expect(verdict).toMatchObject({ pairs: (EVENTS + 20) * PATHS.length, lost: 0, differing: 0, unexpected: 0 });
    expect((await readiness(service)).httpStatus).toBe(200);
    await expectToStopInTime(service);
  });

  test('SIGTERM in a silence, with much under way, ends it in time, and the next process delivers the rest', async () => {
    const { service } = await atWork();
    kafka.signal('SIGSTOP');
    await expectToStopInTime(service);
    kafka.signal('SIGCONT');
    await scene.serve();
    await scene.nothingLost(80_000);
    const verdict = scene.oracle.report('Kafka stopped, and SIGTERM meanwhile');
    expect(verdict).toMatchObject({ pairs: EVENTS * PATHS.length, lost: 0, differing: 0, unexpected: 0 });
  });
});
