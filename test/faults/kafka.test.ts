import { patience } from '../runner/patience.js';
import { inFull, testInFull } from '../runner/thorough.js';
import { startKafka } from '../services/kafka/kafka-server.js';
import { readiness } from '../support/clients/service.js';
import { eventually } from '../support/clocks/eventually.js';
import { FaultScene } from '../support/scenes/fault-scene.js';
import { paymentEvents } from '../support/scenes/story.js';
import { type OwnKafka, withOwnKafka } from '../support/servers/own-kafka.js';

const ACCOUNT = 7;
const PATHS = ['/one', '/two'];
const EVENTS = inFull(400, 120);
const PATIENCE_MS = 40_000;
const PATIENCE = { timeout: PATIENCE_MS };
/** Counted from Kafka's return. */
const RESUMES_WITHIN_MS = 15_000;

withOwnKafka(() => {
  let kafka: OwnKafka;
  let scene: FaultScene;
  let urls: readonly string[];
  beforeEach(async () => {
    kafka = await startKafka();
    scene = await FaultScene.onKafka(kafka);
    urls = scene.urls(...PATHS);
  });
  afterEach(() => scene.close());

  async function startAgain(): Promise<void> {
    const { port, folder } = kafka;
    const again = await startKafka({ port, folder });
    scene.onClose(() => again.stop());
  }

  test('killed under load and started again: nothing is lost, and it goes on by itself', async () => {
    const service = await scene.serve();
    await scene.account(service, ACCOUNT, urls);
    await scene.publish(paymentEvents(ACCOUNT, EVENTS), urls);
    await eventually(() => scene.receiver.requests.length > 50, PATIENCE);
    kafka.signal('SIGKILL');
    await kafka.exited;
    await startAgain();
    const back = performance.now();
    await scene.publish(paymentEvents(ACCOUNT, 20, 'after-'), urls);
    await scene.nothingLost(PATIENCE_MS);
    const resumedMs = Math.round(performance.now() - back);
    const verdict = scene.oracle.report(`Kafka killed, all there after ${resumedMs} ms`);
    expect(verdict).toMatchObject({ pairs: (EVENTS + 20) * PATHS.length, lost: 0, differing: 0, unexpected: 0 });
    expect(resumedMs).toBeLessThan(RESUMES_WITHIN_MS * patience());
    expect(await service.stop('SIGTERM')).toBe(0);
  });

  testInFull('down at the start: the service is not ready, and goes on when Kafka is up', async () => {
    kafka.signal('SIGKILL');
    await kafka.exited;
    const starting = await scene.starting();
    await eventually(() => starting.log().includes('the broker is unavailable; retrying'), PATIENCE);
    const ready = async () => (await readiness(starting)).httpStatus;
    expect(await ready()).toBe(503);
    await startAgain();
    await scene.account(await starting.ready, ACCOUNT, urls);
    await scene.publish(paymentEvents(ACCOUNT, 1), urls);
    await scene.nothingLost(PATIENCE_MS);
    expect(await ready()).toBe(200);
  });
});
