import { undoneAfterEach } from '../support/at-end.js';
import { describeBackbones } from '../support/backbones.js';
import { eventually } from '../support/eventually.js';
import { serveHere } from '../support/in-process-service.js';
import { Oracle } from '../support/oracle.js';
import { startReceiver } from '../support/receiver.js';
import { type Settings, serve } from '../support/service.js';
import { addWebhook, installation, paymentEvents, publishEvents, register, tokenFor } from '../support/story.js';
import { inFull, testInFull } from '../support/thorough.js';

const ACCOUNT = 7;
const PATHS = ['/one', '/two', '/three'];
/** For kill -9, and for SIGTERM. */
const [KILLED_EVENTS, ENDED_EVENTS] = inFull([300, 200], [150, 100]);
const PATIENCE_MS = 40_000;

describeBackbones((backbone) => {
  const atEnd = undoneAfterEach();

  async function burst(count: number) {
    const receiver = await startReceiver();
    const { settings, remove } = await installation([receiver], backbone);
    atEnd(remove, () => receiver.close());
    const service = await serve(settings);
    atEnd(() => service.stop('SIGKILL'));
    const account = await register(settings, ACCOUNT);
    const token = await tokenFor(service.url, account);
    const urls = PATHS.map((path) => receiver.url + path);
    for (const url of urls) await addWebhook(service.url, token, { url, eventType: 'cash_in' });
    const oracle = new Oracle([receiver]);
    const publish = async (events: string) => {
      oracle.due(events, urls);
      await publishEvents(settings, events);
    };
    await publish(paymentEvents(ACCOUNT, count));
    return { receiver, settings, service, oracle, publish };
  }

  /** In this process: where the one before ended is all that counts. */
  async function again(settings: Settings): Promise<void> {
    const service = await serveHere(settings);
    atEnd(() => service.stop());
  }

  test(`kill -9, start: each of ${KILLED_EVENTS} events reaches each of 3 URLs, duplicates with their webhook-id`, async () => {
    const { receiver, settings, service, oracle } = await burst(KILLED_EVENTS);
    await eventually(() => receiver.requests.length > 100);
    await service.stop('SIGKILL');
    await again(settings);
    await oracle.nothingLost(PATIENCE_MS);
    const verdict = oracle.report(`${backbone.name}, kill -9`);
    expect(verdict).toMatchObject({ pairs: KILLED_EVENTS * PATHS.length, lost: 0, differing: 0, unexpected: 0 });
  });

  test('SIGTERM: code 0, and after the next start nothing that was done is sent again', async () => {
    const { receiver, settings, service, oracle } = await burst(ENDED_EVENTS);
    await eventually(() => receiver.requests.length > 50);
    expect(await service.stop('SIGTERM')).toBe(0);
    await again(settings);
    await oracle.nothingLost(PATIENCE_MS);
    const pairs = ENDED_EVENTS * PATHS.length;
    const verdict = oracle.report(`${backbone.name}, SIGTERM`);
    expect(verdict).toEqual({ pairs, lost: 0, sentTwice: 0, differing: 0, unexpected: 0 });
    expect(receiver.requests).toHaveLength(pairs);
  });

  testInFull('events published while it is down are delivered when it is up again', async () => {
    const { settings, service, oracle, publish } = await burst(1);
    await oracle.nothingLost(PATIENCE_MS);
    expect(await service.stop('SIGTERM')).toBe(0);
    await publish(paymentEvents(ACCOUNT, 20, 'while-down-'));
    await again(settings);
    await oracle.nothingLost(PATIENCE_MS);
    expect(oracle.report(`${backbone.name}, down`)).toMatchObject({ pairs: 21 * PATHS.length, lost: 0, sentTwice: 0 });
  });
});
