/**
 * kill -9 at random moments under load: a random count of requests determines each kill. Meanwhile events are
 * published, some attempts fail, and an account keeps changing a webhook. In the end nothing is lost, and every
 * acknowledged change is there.
 *
 * TEST_SEED repeats a run's draws; FAULT_KILLS sets the number of kills.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { deliveryTopics } from '../../src/delivery/log/delivery-log.js';
import { inFull } from '../runner/thorough.js';
import type { Service, Starting } from '../support/clients/service.js';
import { eventually } from '../support/clocks/eventually.js';
import { seeded } from '../support/generators/seeded.js';
import { describeBackbones } from '../support/scenes/backbones.js';
import { FaultScene } from '../support/scenes/fault-scene.js';
import { allStatuses } from '../support/scenes/scratch-in-memory.js';
import { addWebhook, listWebhooks, paymentEvents } from '../support/scenes/story.js';
import type { ReceivedRequest, Reply } from '../support/servers/receiver.js';

const ACCOUNT = 7;
const PATHS = ['/one', '/two', '/slow'];
const EVENTS_A_KILL = 20;
const SLOW_MS = 20;
/** The first attempt for such an event fails, so that there are retries too. */
const FAILS = /"id":"\w+-\d*3"/;
const PATIENCE_MS = 60_000;

describeBackbones((backbone) => {
  const inTurn = backbone.name.includes('Kafka') ? 5 : inFull(20, 4, 50);
  const kills = Number(process.env.FAULT_KILLS ?? inTurn);
  let scene: FaultScene;
  afterEach(() => scene?.close());

  test(`killed ${kills} times: nothing is lost`, async () => {
    const random = seeded();
    const load = new Load();
    scene = await FaultScene.open(backbone, { respond: (request) => load.respond(request) });
    const urls = scene.urls(...PATHS);
    const first = await scene.serve();
    const token = await scene.account(first, ACCOUNT, urls);
    await first.stop('SIGKILL');
    let acknowledged = 0;
    for (let kill = 1; kill <= kills; kill += 1) {
      const service = await scene.starting();
      const change = changed(service, token, scene.urls('/changed')[0] ?? '', kill);
      // There are at least as many requests as new pairs.
      load.killAfter(random.below(EVENTS_A_KILL * PATHS.length + 1), service);
      await scene.publish(paymentEvents(ACCOUNT, EVENTS_A_KILL, `${kill}-`), urls);
      await service.exited;
      if (await change) acknowledged = kill;
    }
    const last = await scene.serve();
    await scene.publish(paymentEvents(ACCOUNT, EVENTS_A_KILL, 'last-'), urls);
    await scene.nothingLost(PATIENCE_MS);
    const pairs = (kills + 1) * EVENTS_A_KILL * PATHS.length;
    const fine = { pairs, lost: 0, differing: 0, unexpected: 0 };
    expect(scene.oracle.verdict()).toMatchObject(fine);
    await allDelivered(scene, pairs);
    expect(await shownChange(last, token)).toBeGreaterThanOrEqual(acknowledged);
    const verdict = scene.oracle.report(`${backbone.name}, killed ${kills} times (TEST_SEED=${random.seed})`);
    expect(verdict).toMatchObject(fine);
  });
});

/** The receiver's responses; when the time has come, it kills the service before it answers the request. */
class Load {
  readonly #seen = new Set<string>();
  #left = Number.POSITIVE_INFINITY;
  #kill: () => void = () => undefined;

  killAfter(requests: number, service: Pick<Service, 'stop'>): void {
    this.#left = requests;
    this.#kill = () => void service.stop('SIGKILL');
    if (requests === 0) this.#kill();
  }

  async respond({ path, body }: ReceivedRequest): Promise<Reply> {
    this.#left -= 1;
    if (this.#left === 0) this.#kill();
    const pair = `${path} ${body}`;
    const isFirst = !this.#seen.has(pair);
    this.#seen.add(pair);
    if (path === '/slow') await delay(SLOW_MS);
    return { status: isFirst && FAILS.test(pair) ? 503 : 200 };
  }
}

/** Whether a change was acknowledged: the header of a webhook is replaced. */
async function changed(starting: Starting, token: string, url: string, change: number): Promise<boolean> {
  const headers = [{ key: 'X-Change', value: String(change) }];
  try {
    const { url: api } = await starting.ready;
    return (await addWebhook(api, token, { url, eventType: 'cash_out', headers })) === 200;
  } catch {
    return false; // killed first
  }
}

async function shownChange(service: Service, token: string): Promise<number> {
  const { webhooks } = await listWebhooks(service, token);
  return Number(webhooks.find(({ type }) => type === 'cash_out')?.headers['X-Change'] ?? 0);
}

/** The deliveries topic says that every pair was delivered. */
function allDelivered(scene: FaultScene, pairs: number): Promise<unknown> {
  return scene.withBroker(({ broker }, topics) => {
    const ended = async () => {
      const all = await allStatuses(deliveryTopics(broker, topics));
      return all.length === pairs && all.every(({ outcome }) => outcome === 'delivered');
    };
    return eventually(ended, { timeout: PATIENCE_MS, message: 'a delivery has no end' });
  });
}
