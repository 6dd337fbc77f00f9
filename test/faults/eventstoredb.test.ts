import { inFull } from '../runner/thorough.js';
import { startEventStoreCluster } from '../services/eventstoredb/cluster.js';
import { REAL_PROGRAM, startOwnServer } from '../services/eventstoredb/own-server.js';
import { commandLine } from '../support/clients/in-process-cli.js';
import { readiness, type Service, strayLines } from '../support/clients/service.js';
import { eventually } from '../support/clocks/eventually.js';
import { FaultScene } from '../support/scenes/fault-scene.js';
import { addWebhook, listWebhooks } from '../support/scenes/story.js';

const ACCOUNT = 7;
const OUT_OF_REACH = 'the event store is unavailable; retrying';
const PATIENCE = { timeout: 30_000 };

interface StoreOutside {
  readonly url: string;
  kill(): Promise<unknown>;
  revive(): Promise<void>;
  stop(): Promise<void>;
}

async function cluster(): Promise<StoreOutside> {
  const started = await startEventStoreCluster(3);
  const { url, revive, stop } = started;
  return { url, revive, stop, kill: () => Promise.all(started.members.map((member) => started.kill(member))) };
}

let scene: FaultScene;
afterEach(() => scene.close());

/** A store, and a service on it that has folded an account with a webhook. */
async function running(start: () => Promise<StoreOutside>) {
  const store = await start();
  scene = await FaultScene.onStore(store);
  const service = await scene.serve();
  const token = await scene.account(service, ACCOUNT, ['https://localhost/one']);
  return { store, service, token };
}

const ready = async (service: Pick<Service, 'adminUrl'>) => (await readiness(service)).httpStatus;
const webhooks = async (service: Service, token: string) => (await listWebhooks(service, token)).webhooks.length;

const goesAway = (_: string, start: () => Promise<StoreOutside>) => {
  test('down at the start, with a read model from before: it waits, is not ready, and goes on when it is back', async () => {
    const { store, service, token } = await running(start);
    expect(await service.stop('SIGTERM')).toBe(0);
    await store.kill();
    const starting = await scene.starting();
    await eventually(() => starting.log().includes(OUT_OF_REACH), PATIENCE);
    expect(await ready(starting)).toBe(503);
    await store.revive();
    const again = await starting.ready;
    expect(await ready(again)).toBe(200);
    expect(await webhooks(again, token)).toBe(1);
    expect(await again.stop('SIGTERM')).toBe(0);
    expect(strayLines(again.log())).toEqual([]);
  });

  test('killed while it serves: what is asked meanwhile is done when it is back', async () => {
    const { store, service, token } = await running(start);
    await store.kill();
    const posts = Array.from({ length: 12 }, () =>
      addWebhook(service.url, token, { url: 'https://localhost/two', eventType: 'cash_in' }),
    );
    await eventually(() => service.log().includes(OUT_OF_REACH), PATIENCE);
    expect(await webhooks(service, token)).toBe(1);
    await eventually(async () => (await ready(service)) === 503, PATIENCE);
    await store.revive();
    expect(await Promise.all(posts)).toContain(200);
    await eventually(async () => (await webhooks(service, token)) === 2, PATIENCE);
    expect(await service.stop('SIGTERM')).toBe(0);
    expect(strayLines(service.log())).toEqual([]);
  });

  test('down: SIGTERM ends the wait with code 0, and each command ends with one line and code 1', async () => {
    const { store, service } = await running(start);
    await service.stop('SIGTERM');
    await store.kill();
    const commands = ['audit log --account 7', 'projections status', 'projections verify'];
    const starting = await scene.starting();
    await Promise.all(commands.map((command) => failsInOneLine(command, /event store|EventStoreDB/)));
    await eventually(() => starting.log().includes(OUT_OF_REACH), PATIENCE);
    expect(await starting.stop('SIGTERM')).toBe(0);
  });
};

type Start = readonly [string, () => Promise<StoreOutside>];
const ONE: Start = ['one server', startOwnServer];
/** A real program starts one server. */
const CLUSTER: readonly Start[] = REAL_PROGRAM ? [] : [['several hosts', cluster]];
describe.each<Start>(inFull([ONE, ...CLUSTER], [ONE]))('the event store (%s)', goesAway);

test('projections that were never deployed: each command that needs them says how they are', async () => {
  await running(startOwnServer);
  for (const command of ['projections status', 'projections verify'])
    await failsInOneLine(command, /^account-webhooks: .*account-webhooks projections deploy$/);
  await failsInOneLine('projections rebuild', /^account-webhooks: .*has no projection account-webhooks$/);
});

async function failsInOneLine(command: string, says: RegExp): Promise<void> {
  const { code, stderr } = await commandLine(scene.settings, command.split(' '));
  expect({ command, code, lines: stderr.trim().split('\n') }).toEqual({
    command,
    code: 1,
    lines: [expect.stringMatching(says)],
  });
}
