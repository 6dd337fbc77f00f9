/**
 * The process is stopped under load for longer than an attempt's timeout (SIGSTOP; a virtual machine that is moved).
 * Deliveries answered meanwhile are not sent again, those whose receiver gave up are, and events published meanwhile arrive.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openFile } from '../../src/adapters/sqlite/open-file.js';
import { isStarved } from '../runner/patience.js';
import type { Service, Settings } from '../support/clients/service.js';
import { eventually } from '../support/clocks/eventually.js';
import { describeBackbones } from '../support/scenes/backbones.js';
import { FaultScene } from '../support/scenes/fault-scene.js';
import { paymentEvents } from '../support/scenes/story.js';
import type { Reply } from '../support/servers/receiver.js';

const ACCOUNT = 7;
const PATHS = ['/one', '/two', '/three'];
/** Few enough to be in progress at once, after the URLs' windows have grown. */
const ASKED = 15;
const BEFORE = 30;
const MEANWHILE = 150;
/** Well below Kafka's session timeout: the records of an expired member are redelivered. */
const TIMEOUT_MS = 3_000;
const PATIENCE_MS = 40_000;
/** How what was sent before the stop ends meanwhile. */
const HELD: [string, Reply][] = [
  ['', { status: 200 }],
  [', and its receivers give up', 'reset'],
];

describeBackbones((backbone) => {
  let scene: FaultScene;
  afterEach(() => scene?.close());

  test.each(HELD)('stopped for longer than an attempt may take%s', async (and, held) => {
    let answer: () => void = () => undefined;
    const answering = new Promise<void>((resolve) => {
      answer = resolve;
    });
    let holdsBack = false;
    const ok = { status: 200 };
    const respond = () => (holdsBack ? answering.then(() => held) : ok);
    scene = await FaultScene.open(backbone, { respond, settings: { DELIVERY_TIMEOUT: `${TIMEOUT_MS / 1_000}s` } });
    const service = await scene.serve();
    const urls = scene.urls(...PATHS);
    await scene.account(service, ACCOUNT, urls);
    await scene.publish(paymentEvents(ACCOUNT, BEFORE, 'before'), urls);
    await eventually(() => scene.receiver.requests.length >= BEFORE * PATHS.length, { timeout: PATIENCE_MS });
    holdsBack = true;
    await scene.publish(paymentEvents(ACCOUNT, ASKED, 'asked'), urls);
    await eventually(() => scene.receiver.requests.length >= (BEFORE + ASKED) * PATHS.length, {
      timeout: PATIENCE_MS,
    });

    const from = performance.now();
    await stopBetweenWrites(service, scene.settings);
    try {
      holdsBack = false;
      answer();
      await scene.publish(paymentEvents(ACCOUNT, MEANWHILE, 'meanwhile'), urls);
      await eventually(() => performance.now() - from > TIMEOUT_MS + 500, { timeout: PATIENCE_MS });
    } finally {
      goOn(service);
    }

    await scene.nothingLost(PATIENCE_MS);
    const pairs = (BEFORE + ASKED + MEANWHILE) * PATHS.length;
    const delivered = await scene.allDelivered(ACCOUNT, pairs, PATIENCE_MS);
    const verdict = scene.oracle.report(`${backbone.name}, stopped for longer than an attempt may take${and}`);
    expect(verdict).toMatchObject({ pairs, lost: 0, differing: 0, unexpected: 0 });
    // A busy machine may itself hold up an attempt for its timeout, and a member for its session.
    if (isStarved()) return;
    expect(verdict.sentTwice).toBe(0);
    const most = held === 'reset' ? 2 : 1;
    expect(delivered.every(({ attempts }) => attempts.length <= most)).toBe(true);
  });
});

/**
 * Between two writes to the embedded store, if there is one: midway through a transaction a process holds the file's
 * write lock, which nobody can take over.
 */
async function stopBetweenWrites({ pid }: Pick<Service, 'pid'>, { DATA_DIR = '' }: Settings): Promise<void> {
  const store = join(DATA_DIR, 'store.sqlite');
  const isStopped = () => {
    process.kill(pid, 'SIGSTOP');
    if (!existsSync(store) || isWritable(store)) return true;
    process.kill(pid, 'SIGCONT');
    return false;
  };
  await eventually(isStopped, { message: 'it writes all the time' });
}

function goOn({ pid }: Pick<Service, 'pid'>): void {
  process.kill(pid, 'SIGCONT');
}

function isWritable(store: string): boolean {
  const file = openFile(store, 100);
  try {
    file.exec('BEGIN IMMEDIATE; ROLLBACK');
    return true;
  } catch {
    return false;
  } finally {
    file.close();
  }
}
