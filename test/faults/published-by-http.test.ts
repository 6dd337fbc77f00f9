/** Payment systems publish by HTTP while the process is killed, or its disk is full: what was answered 202 is delivered. */
import { setTimeout as delay } from 'node:timers/promises';
import { commandLine } from '../support/clients/in-process-cli.js';
import type { Service } from '../support/clients/service.js';
import { eventually } from '../support/clocks/eventually.js';
import { describeBackbones } from '../support/scenes/backbones.js';
import { FaultScene } from '../support/scenes/fault-scene.js';
import { FaultyLibc, withFaultyLibc } from '../support/scenes/faulty-libc.js';
import { type Account, paymentEvents, tokenFor } from '../support/scenes/story.js';

const ACCOUNT = 7;
const PATHS = ['/one', '/two'];
const POSTERS = 8;
/** Requests with 202 before each kill. */
const ACCEPTED = 30;
/** Writes that find no room. */
const REFUSED = 60;
const PATIENCE_MS = 40_000;
const PATIENCE = { timeout: PATIENCE_MS };

/** Posts without a pause, several at a time, until it is stopped; each batch once. */
class Posters {
  readonly #scene: FaultScene;
  readonly #urls: readonly string[];
  readonly #token: string;
  readonly #running: Promise<unknown>;
  #isStopped = false;
  #batches = 0;
  url: string;
  /** Requests by their status; 0 for those without an answer. */
  readonly answers: Record<number, number> = { 0: 0, 202: 0, 503: 0 };

  constructor(scene: FaultScene, urls: readonly string[], { url, token }: { url: string; token: string }) {
    this.#scene = scene;
    this.#urls = urls;
    this.url = url;
    this.#token = token;
    this.#running = Promise.all(Array.from({ length: POSTERS }, () => this.#post()));
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  async #post(): Promise<void> {
    while (!this.#isStopped) {
      this.#batches += 1;
      const events = paymentEvents(ACCOUNT, 1 + (this.#batches % 4), `http-${this.#batches}-`);
      this.#scene.oracle.maybe(events, this.#urls);
      const status = await this.#answered(events);
      this.answers[status] = (this.answers[status] ?? 0) + 1;
      if (status === 202) this.#scene.oracle.due(events, this.#urls);
      else await delay(20);
    }
  }

  async #answered(body: string): Promise<number> {
    const headers = { authorization: `Bearer ${this.#token}`, 'content-type': 'application/x-ndjson' };
    try {
      const response = await fetch(`${this.url}/api/payment-events`, { method: 'POST', headers, body });
      await response.arrayBuffer();
      return response.status;
    } catch {
      return 0;
    }
  }
}

let scene: FaultScene;
let posters: Posters;
let urls: string[];
afterEach(async () => {
  await posters.stop();
  await scene.close();
});

async function posting(service: Service): Promise<void> {
  urls = scene.urls(...PATHS);
  await scene.account(service, ACCOUNT, urls);
  const { stdout } = await commandLine(scene.settings, ['publishers', 'register', 'ledger', '--json']);
  const token = await tokenFor(service.url, JSON.parse(stdout) as Account);
  posters = new Posters(scene, urls, { url: service.url, token });
}

const accepted = () => posters.answers[202] ?? 0;

async function nothingLost(what: string): Promise<void> {
  await posters.stop();
  await scene.nothingLost(PATIENCE_MS);
  expect(Object.keys(posters.answers)).toEqual(['0', '202', '503']);
  expect(scene.oracle.report(what)).toMatchObject({ lost: 0, differing: 0, unexpected: 0 });
}

describeBackbones((backbone) => {
  test('kill -9: no event that was answered 202 is lost', async () => {
    // A new process of a group waits long for the killed one's place.
    const times = backbone.name.includes('Kafka') ? 2 : 3;
    scene = await FaultScene.open(backbone);
    let service = await scene.serve();
    await posting(service);
    for (let kills = 0; kills < times; kills += 1) {
      const before = accepted();
      await eventually(() => accepted() >= before + ACCEPTED, PATIENCE);
      await service.stop('SIGKILL');
      service = await scene.serve();
      posters.url = service.url;
    }
    const before = accepted();
    await eventually(() => accepted() >= before + ACCEPTED, PATIENCE);
    await nothingLost(`kill -9 while publishing by HTTP, ${backbone.name}`);
    expect(posters.answers[0]).toBeGreaterThan(0);
  });
});

withFaultyLibc(() => {
  test.each([1, 5])('disk full at one write in %i: no event that was answered 202 is lost', async (nth) => {
    scene = await FaultScene.open();
    const libc = new FaultyLibc(String(scene.settings.DATA_DIR));
    scene.onClose(() => libc.close());
    await posting(await scene.serve(libc.settings));
    await eventually(() => accepted() >= ACCEPTED, PATIENCE);
    libc.diskFull(nth);
    await eventually(() => libc.writesRefused >= REFUSED && (posters.answers[503] ?? 0) > 0, PATIENCE);
    libc.diskFull(0);
    const before = accepted();
    await eventually(() => accepted() >= before + ACCEPTED, PATIENCE);
    await nothingLost(`the disk is full at one write in ${nth} while publishing by HTTP`);
  });
});
