import { patience } from '../runner/patience.js';
import { startKafka } from '../services/kafka/kafka-server.js';
import { undoneAfterEach } from '../support/at-end.js';
import { distinct } from '../support/distinct-requests.js';
import { eventually } from '../support/eventually.js';
import { commandLine } from '../support/in-process-cli.js';
import { kafkaInstallation } from '../support/kafka-installation.js';
import { Oracle } from '../support/oracle.js';
import { consoleProducer, type OwnKafka, withOwnKafka } from '../support/own-kafka.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { type Service, type Settings, serve, startServing } from '../support/service.js';
import { addWebhook, paymentEvents, publishEvents, register, tokenFor } from '../support/story.js';
import { inFull, testInFull } from '../support/thorough.js';

const ACCOUNT = 7;
const PATHS = ['/one', '/two'];
const EVENTS = inFull(400, 120);
const PATIENCE_MS = 40_000;
const PATIENCE = { timeout: PATIENCE_MS };
/** Counted from Kafka's return. */
const RESUMES_WITHIN_MS = 15_000;

withOwnKafka(() => {
  const atEnd = undoneAfterEach();

  async function kafka(options: Parameters<typeof startKafka>[0] = {}): Promise<OwnKafka> {
    const server = await startKafka(options);
    atEnd(() => server.stop());
    return server;
  }

  async function service(settings: Settings): Promise<Service> {
    const started = await serve(settings);
    atEnd(() => started.stop('SIGKILL'));
    return started;
  }

  async function receiving(): Promise<Receiver> {
    const receiver = await startReceiver();
    atEnd(() => receiver.close());
    return receiver;
  }

  async function story(brokers: string) {
    const receiver = await receiving();
    const { settings, remove } = await kafkaInstallation(brokers, [receiver]);
    atEnd(remove);
    return { receiver, settings };
  }

  async function webhooks(running: Service, settings: Settings, receiver: Receiver): Promise<void> {
    const token = await tokenFor(running.url, await register(settings, ACCOUNT));
    for (const path of PATHS) await addWebhook(running.url, token, { url: receiver.url + path, eventType: 'cash_in' });
  }

  test('killed under load and started again: nothing is lost, and it goes on by itself', async () => {
    const server = await kafka();
    const { receiver, settings } = await story(server.brokers);
    const running = await service(settings);
    await webhooks(running, settings, receiver);
    const oracle = new Oracle([receiver]);
    const publish = (events: string) => {
      oracle.due(
        events,
        PATHS.map((path) => receiver.url + path),
      );
      return publishEvents(settings, events);
    };
    await publish(paymentEvents(ACCOUNT, EVENTS));
    await eventually(() => receiver.requests.length > 50, PATIENCE);
    server.signal('SIGKILL');
    await server.exited;
    const { port, folder } = server;
    await kafka({ port, folder });
    const back = performance.now();
    await publish(paymentEvents(ACCOUNT, 20, 'after-'));
    await oracle.nothingLost(PATIENCE_MS);
    const resumedMs = Math.round(performance.now() - back);
    const verdict = oracle.report(`Kafka killed, all there after ${resumedMs} ms`);
    expect(verdict).toMatchObject({ pairs: (EVENTS + 20) * PATHS.length, lost: 0, differing: 0, unexpected: 0 });
    expect(resumedMs).toBeLessThan(RESUMES_WITHIN_MS * patience());
    expect(await running.stop('SIGTERM')).toBe(0);
  });

  testInFull('down at the start: it waits, says so, is not ready, and goes on when Kafka is up', async () => {
    const server = await kafka();
    const { receiver, settings } = await story(server.brokers);
    await server.stop();
    const starting = await startServing(settings);
    atEnd(() => starting.stop('SIGKILL'));
    await eventually(() => starting.log().includes('the broker is unavailable; retrying'), PATIENCE);
    expect((await fetch(`${starting.adminUrl}/health/ready`)).status).toBe(503);
    expect((await fetch(`${starting.adminUrl}/health/live`)).status).toBe(200);
    await kafka({ port: server.port });
    const running = await starting.ready;
    await webhooks(running, settings, receiver);
    await publishEvents(settings, paymentEvents(ACCOUNT, 1));
    await eventually(() => distinct(receiver.requests) === PATHS.length, PATIENCE);
    expect((await fetch(`${starting.adminUrl}/health/ready`)).status).toBe(200);
  });

  test('down at the start and SIGTERM: it ends with code 0', async () => {
    const { settings } = await story('127.0.0.1:1');
    const starting = await startServing(settings);
    await eventually(() => starting.log().includes('the broker is unavailable'), PATIENCE);
    expect(await starting.stop('SIGTERM')).toBe(0);
  });

  testInFull("any producer's records, keyed or not, are delivered; poison keeps its key", async () => {
    const server = await kafka();
    const { receiver, settings } = await story(server.brokers);
    const running = await service(settings);
    await webhooks(running, settings, receiver);
    const [keyed = '', keyless = ''] = paymentEvents(ACCOUNT, 2).trim().split('\n');
    const topic = String(settings.PAYMENT_TOPICS);
    await consoleProducer(server.brokers, topic, [`${ACCOUNT}|${keyed}`, 'k1|not json'], { keySeparator: '|' });
    await consoleProducer(server.brokers, topic, [keyless]);
    await eventually(() => distinct(receiver.requests) === 2 * PATHS.length, PATIENCE);
    const bodies = receiver.requests.map(({ body }) => body.toString());
    expect(new Set(bodies)).toEqual(new Set([keyed, keyless]));
    // Nothing orders it and the deliveries.
    const letters = async () => (await commandLine(settings, ['dead-letters', 'list', '--json'])).stdout;
    const letter = JSON.parse(await eventually(letters, PATIENCE));
    expect(letter).toMatchObject({ reason: 'not-valid', key: 'k1', value: 'not json' });
  });
});
