/**
 * A second dispatcher joins, or one of two leaves, while thousands of deliveries wait in queues: planned, without a
 * crash. Only deliveries in flight may be sent twice, and none of those that waited behind them. On a starved machine more
 * may: a hand-over has a second for each of its steps, and a stop seven in all.
 */
import { isStarved } from '../runner/patience.js';
import { elsewhere, type Service, serve } from '../support/clients/service.js';
import { eventually } from '../support/clocks/eventually.js';
import { describeBackbones, ON_SERVERS } from '../support/scenes/backbones.js';
import { FaultScene } from '../support/scenes/fault-scene.js';
import { paymentEvents } from '../support/scenes/story.js';

const ACCOUNTS = [1, 2, 3, 4];
/**
 * Response times in ms, by path: a queue of each pace per account. Far below a second, on a busy machine too: a slower endpoint's
 * queue has less room.
 */
const PACES = { '/slow': 300, '/slower': 500 };
/** Of each account: who joins has to leave thousands alone. */
const EVENTS = { joins: 250, leaves: 100 };
/** Two URLs of four accounts, at most sixteen attempts at a time each. */
const PLACES = 128;
const PATIENCE_MS = 120_000;
const PATIENCE = { timeout: PATIENCE_MS };

describeBackbones((backbone) => {
  let scene: FaultScene;
  afterEach(() => scene?.close());

  async function dispatcher(): Promise<Service> {
    const service = await serve(elsewhere(scene.settings), ['--roles', 'dispatcher']);
    scene.onClose(() => service.stop('SIGKILL'));
    return service;
  }

  /** This many dispatchers, with long queues that are shrinking. */
  async function underLoad(dispatchers: number, events: number): Promise<Service[]> {
    scene = await FaultScene.open(backbone, { respond: slowly, settings: { RETRY_SCHEDULE: '5s,5s,5s,10m' } });
    const api = await serve(scene.settings, ['--roles', 'api']);
    scene.onClose(() => api.stop('SIGKILL'));
    const urls = (id: number) => scene.urls(...Object.keys(PACES).map((path) => `${path}/${id}`));
    for (const id of ACCOUNTS) await scene.account(api, id, urls(id));
    const services = [];
    while (services.length < dispatchers) services.push(await dispatcher());
    await Promise.all(ACCOUNTS.map((id) => scene.publish(paymentEvents(id, events, `of-${id}-`), urls(id))));
    await eventually(() => scene.receiver.taken.length > pairsOf(events) / 8, PATIENCE);
    return services;
  }

  async function verdictOn(what: string, events: number) {
    await scene.nothingLost(PATIENCE_MS);
    const verdict = scene.oracle.report(`${backbone.name}, ${what}`);
    expect(verdict).toMatchObject({ pairs: pairsOf(events), lost: 0, differing: 0, unexpected: 0 });
    return verdict;
  }

  test('a second dispatcher joins: nothing is lost, and no more is sent twice than was on its way', async () => {
    await underLoad(1, EVENTS.joins);
    await dispatcher();
    const { sentTwice } = await verdictOn('a second dispatcher joins', EVENTS.joins);
    if (!isStarved()) expect(sentTwice).toBeLessThanOrEqual(PLACES);
  });

  test('one of two dispatchers is told to end: nothing is lost, and nothing is sent twice', async () => {
    const [first] = await underLoad(2, EVENTS.leaves);
    expect(await first?.stop('SIGTERM')).toBe(0);
    const { sentTwice } = await verdictOn('one of two dispatchers is told to end', EVENTS.leaves);
    if (!isStarved()) expect(sentTwice).toBe(0);
  });
}, ON_SERVERS);

function pairsOf(events: number): number {
  return events * ACCOUNTS.length * Object.keys(PACES).length;
}

async function slowly({ path }: { readonly path: string }): Promise<{ status: number }> {
  const [, ms = 0] = Object.entries(PACES).find(([start]) => path.startsWith(`${start}/`)) ?? [];
  await new Promise((resolve) => setTimeout(resolve, ms));
  return { status: 200 };
}
