/**
 * A server is lost for ten seconds while payments flow and an account changes its webhooks. Each POST gets a response, every
 * acknowledged change is there, and no payment is lost. (kafka.test.ts and kafka-silent.test.ts kill and stop Kafka,
 * eventstoredb.test.ts kills the event store, routed-behind.test.ts cuts it off.)
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { startOwnServer } from '../services/eventstoredb/own-server.js';
import { type Service, strayLines } from '../support/clients/service.js';
import { eventually } from '../support/clocks/eventually.js';
import type { OpenBackbone } from '../support/scenes/backbones.js';
import { failingFirst } from '../support/scenes/failing-first.js';
import { FaultScene } from '../support/scenes/fault-scene.js';
import { kafkaSettingsOn } from '../support/scenes/kafka-installation.js';
import { addWebhook, listWebhooks, paymentEvents } from '../support/scenes/story.js';
import { type Listeners, withListeners } from '../support/servers/own-kafka.js';
import { type Relay, startRelay } from '../support/servers/relay.js';

const ACCOUNT = 7;
const PATHS = ['/one', '/two', '/three'];
const TYPES = ['cash_out', 'refund_in', 'refund_out', 'med_created', 'med_accepted', 'med_rejected'];
const EVENTS = 60;
const CHANGES_EVERY_MS = 50;
const LOST_FOR_MS = 10_000;
const PATIENCE_MS = 80_000;
const PATIENCE = { timeout: PATIENCE_MS };
/** The first attempt for such an event fails: there are retries, but never ten failures in a row. */
const FAILS = /"id":"\w+-\d*3"/;

/** A server behind a relay. */
interface Outside {
  readonly settings: OpenBackbone['settings'];
  readonly relay: Relay;
}

let scene: FaultScene;
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  await scene?.close();
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function eventStore(): Promise<Outside> {
  const server = await startOwnServer();
  cleanups.push(() => server.stop());
  const relay = await startRelay(server.port);
  cleanups.push(() => relay.close());
  const url = server.url.replace(String(server.port), String(relay.port));
  return { settings: { EVENT_STORE_URL: url, MASTER_KEY: randomBytes(32).toString('base64') }, relay };
}

async function kafka({ RELAYED, relay: advertised }: Listeners): Promise<Outside> {
  const relay = await startRelay(portOf(RELAYED), portOf(advertised));
  cleanups.push(() => relay.close());
  return { settings: kafkaSettingsOn(advertised), relay };
}

const portOf = (address: string) => Number(address.split(':')[1]);

async function losing(what: string, { settings, relay }: Outside, fault: 'cut' | 'freeze'): Promise<void> {
  const open = async () => ({ settings, close: async () => undefined });
  scene = await FaultScene.open({ name: what, open }, { respond: failingFirst(FAILS) });
  const service = await scene.serve();
  const urls = scene.urls(...PATHS);
  const token = await scene.account(service, ACCOUNT, urls);
  const changes = changing(service.url, token);
  const publish = (name: string) => scene.publish(paymentEvents(ACCOUNT, EVENTS, name), urls);

  // So that the group has committed offsets.
  await publish('first-');
  await scene.nothingLost(PATIENCE_MS);
  await publish('before-');
  await eventually(() => scene.receiver.requests.length > 4 * EVENTS, PATIENCE);
  relay[fault]();
  const isBrokerThere = settings.BROKER_URL === undefined;
  if (isBrokerThere) {
    await publish('during-');
    // Deliveries work without the event store: the URLs are in the read model.
    await scene.nothingLost(PATIENCE_MS);
  }
  await delay(LOST_FOR_MS);
  relay.mend();
  await publish('after-');
  await scene.nothingLost(PATIENCE_MS);
  const answers = await changes.end();
  await eventually(async () => (await post(service.url, token, 0)) === 200, PATIENCE);

  const refused = answers.filter((status) => status !== 200);
  const verdict = scene.oracle.report(`${what}, ${refused.length} of ${answers.length} POSTs refused`);
  const pairs = (isBrokerThere ? 4 : 3) * EVENTS * PATHS.length;
  expect(verdict).toMatchObject({ pairs, lost: 0, differing: 0, unexpected: 0 });
  expect(refused.filter((status) => status < 500)).toEqual([]);
  expect(await service.stop('SIGTERM')).toBe(0);
  expect(strayLines(service.log())).toEqual([]);
  const again = await scene.serve();
  expectTrue(answers, await shown(again, token));
}

/** POSTs one change after the other until told to end. @returns the status of each response */
function changing(api: string, token: string): { end(): Promise<number[]> } {
  const answers: number[] = [];
  let isOver = false;
  const changes = (async () => {
    for (let n = 1; !isOver; n += 1) {
      answers.push(await post(api, token, n));
      await delay(CHANGES_EVERY_MS);
    }
  })();
  const end = async () => {
    isOver = true;
    await changes;
    return answers;
  };
  return { end };
}

/** Each change replaces the header of one of the webhooks. */
function post(api: string, token: string, change: number): Promise<number> {
  const headers = [{ key: 'X-Change', value: String(change) }];
  return addWebhook(api, token, { url: `${scene.receiver.url}/changed`, eventType: typeOf(change), headers });
}

const typeOf = (change: number) => TYPES[change % TYPES.length] ?? '';

async function shown(service: Service, token: string): Promise<Map<string, number>> {
  const { webhooks } = await listWebhooks(service, token);
  return new Map(webhooks.map(({ type, headers }) => [type, Number(headers['X-Change'])]));
}

/**
 * For each type, the last accepted change is there, or a later one: a refused change may have been stored. The first
 * type's change has been replaced since.
 */
function expectTrue(answers: readonly number[], kept: ReadonlyMap<string, number>): void {
  const taken = answers.flatMap((status, index) => (status === 200 ? [index + 1] : []));
  expect(taken.length).toBeGreaterThan(0);
  for (const type of TYPES.slice(1)) {
    const last = taken.findLast((change) => typeOf(change) === type) ?? 0;
    expect(kept.get(type) ?? 0).toBeGreaterThanOrEqual(last);
  }
}

test('the event store stopped for ten seconds: payments go on, every answer was true, nothing is lost', async () => {
  await losing('the event store stopped', await eventStore(), 'freeze');
});

withListeners((listeners) => {
  test('Kafka cut off for ten seconds: every answer was true, nothing is lost', async () => {
    await losing('Kafka cut off', await kafka(listeners), 'cut');
  });
});
