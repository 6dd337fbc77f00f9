/** Kafka accepts connections and does not answer, as if stopped, stuck, or behind a broken network. */
import { setTimeout as delay } from 'node:timers/promises';
import { startKafka } from '../services/kafka/kafka-server.js';
import { undoneAfterEach } from '../support/at-end.js';
import { eventually } from '../support/eventually.js';
import { failingFirst } from '../support/failing-first.js';
import { kafkaInstallation } from '../support/kafka-installation.js';
import { startMuteKafka } from '../support/mute-kafka.js';
import { Oracle } from '../support/oracle.js';
import { type OwnKafka, withOwnKafka } from '../support/own-kafka.js';
import { type ReceivedRequest, startReceiver } from '../support/receiver.js';
import { run, type Service, type Settings, serve, startServing } from '../support/service.js';
import { addWebhook, paymentEvents, publishEvents, register, tokenFor } from '../support/story.js';
import { testInFull } from '../support/thorough.js';

const ACCOUNT = 7;
const PATHS = ['/one', '/two'];
/** Of each URL's events: too few for its breaker to open, or for its window to stay at one attempt at a time. */
const EVERY_FIFTH = /"id":"[\w-]*[38]"/;
/** The tiers of 30 s are for a starved machine, where a delivery must not come to its time limit. */
const RETRY_SCHEDULE = '200ms,400ms,800ms,30s,30s,30s,30s';
const PATIENCE = { timeout: 40_000 };
const SILENT_FOR_MS = 10_000;
/** About ten seconds, plus the time of a busy machine to start four processes; kafkajs by itself takes thirty. */
const COMMANDS_END_WITHIN_MS = 25_000;
const STOPS_WITHIN_MS = 10_000;

const atEnd = undoneAfterEach();

async function installation(
  brokers: string,
  receivers: Parameters<typeof kafkaInstallation>[1] = [],
): Promise<Settings> {
  const { settings, remove } = await kafkaInstallation(brokers, receivers);
  atEnd(remove);
  return { ...settings, RETRY_SCHEDULE };
}

async function mute(): Promise<Settings> {
  const kafka = await startMuteKafka();
  atEnd(() => kafka.close());
  return installation(kafka.brokers);
}

async function expectToStopInTime(service: Pick<Service, 'stop'>): Promise<void> {
  const asked = performance.now();
  expect(await service.stop('SIGTERM')).toBe(0);
  expect(performance.now() - asked).toBeLessThan(STOPS_WITHIN_MS);
}

const COMMANDS = [
  ['events', 'publish'],
  ['deliveries', 'list', '--account', '7'],
  ['dead-letters', 'list'],
  ['dead-letters', 'replay'],
];

testInFull('commands end in time, with one line that says what is wrong, and exit code 1', async () => {
  const settings = await mute();
  const begun = performance.now();
  const ended = await Promise.all(COMMANDS.map((args) => run(settings, args, paymentEvents(ACCOUNT, 1))));
  expect(performance.now() - begun).toBeLessThan(COMMANDS_END_WITHIN_MS);
  const stderr = 'account-webhooks: Kafka at BROKER_URL did not answer in time (TOOK_TOO_LONG)\n';
  expect(ended).toEqual(COMMANDS.map(() => ({ code: 1, stdout: '', stderr })));
});

testInFull('at the start: the service waits, says so, and is not ready; SIGTERM ends it', async () => {
  const starting = await startServing(await mute());
  atEnd(() => starting.stop('SIGKILL'));
  await eventually(() => starting.log().includes('the broker is unavailable; retrying'), PATIENCE);
  expect(starting.log()).toContain('(TOOK_TOO_LONG)');
  expect((await fetch(`${starting.adminUrl}/health/ready`)).status).toBe(503);
  expect((await fetch(`${starting.adminUrl}/health/live`)).status).toBe(200);
  await expectToStopInTime(starting);
});

withOwnKafka(() => {
  interface Story {
    readonly server: OwnKafka;
    readonly settings: Settings;
    readonly running: Service;
    readonly oracle: Oracle;
    /** The requests that the receiver got. */
    readonly sent: readonly ReceivedRequest[];
    /** Publishes by the command line, to both webhooks. */
    publish(events: string): Promise<unknown>;
  }

  /**
   * A service with two webhooks whose receiver fails the first attempt for every fifth event: these deliveries pass
   * through Kafka once more.
   */
  async function atWork(events: number): Promise<Story> {
    const server = await startKafka();
    atEnd(() => {
      server.signal('SIGCONT');
      return server.stop();
    });
    const receiver = await startReceiver({ respond: failingFirst(EVERY_FIFTH) });
    atEnd(() => receiver.close());
    const settings = await installation(server.brokers, [receiver]);
    const running = await serve(settings);
    atEnd(() => running.stop('SIGKILL'));
    const token = await tokenFor(running.url, await register(settings, ACCOUNT));
    const urls = PATHS.map((path) => receiver.url + path);
    for (const url of urls) await addWebhook(running.url, token, { url, eventType: 'cash_in' });
    const oracle = new Oracle([receiver]);
    const publish = (published: string) => {
      oracle.due(published, urls);
      return publishEvents(settings, published);
    };
    await publish(paymentEvents(ACCOUNT, events));
    return { server, settings, running, oracle, sent: receiver.requests, publish };
  }

  testInFull('for ten seconds while it works: nothing is lost, and it goes on by itself', async () => {
    const { server, running, oracle, sent, publish } = await atWork(400);
    // Some are done; for others the record of the next attempt is in flight.
    await eventually(() => sent.length > 400, PATIENCE);
    server.signal('SIGSTOP');
    await delay(SILENT_FOR_MS);
    server.signal('SIGCONT');
    await publish(paymentEvents(ACCOUNT, 20, 'after-'));
    await oracle.nothingLost(PATIENCE.timeout);
    const verdict = oracle.report('Kafka stopped for ten seconds');
    expect(verdict).toMatchObject({ pairs: 420 * PATHS.length, lost: 0, differing: 0, unexpected: 0 });
    expect((await fetch(`${running.adminUrl}/health/ready`)).status).toBe(200);
    await expectToStopInTime(running);
  });

  testInFull(
    'and SIGTERM meanwhile, with much under way: it ends in time, and the next process delivers what is left',
    async () => {
      const { server, settings, running, oracle, sent } = await atWork(400);
      await eventually(() => sent.length > 400, PATIENCE);
      server.signal('SIGSTOP');
      await expectToStopInTime(running);
      server.signal('SIGCONT');
      const next = await serve(settings);
      atEnd(() => next.stop('SIGKILL'));
      await oracle.nothingLost(80_000);
      const verdict = oracle.report('Kafka stopped, and SIGTERM meanwhile');
      expect(verdict).toMatchObject({ pairs: 400 * PATHS.length, lost: 0, differing: 0, unexpected: 0 });
    },
  );
});
