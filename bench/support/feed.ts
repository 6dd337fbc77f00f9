/**
 * Keeps a service busy and no more than that: so many events are published and not yet delivered. With a backlog instead,
 * what is over a URL's queue would go to a retry tier, and that would be measured.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Scene } from './scene.js';

/** Well below what the queues hold, and above what is sent at once. */
const MOST_EVENTS = 400;
const LOOK_EVERY_MS = 5;
const DRAINED_WITHIN_MS = 30_000;

export class Feed {
  readonly #scene: Pick<Scene, 'receivers' | 'publisher'>;
  readonly #deliveriesAnEvent: number;
  #running: Promise<void> = Promise.resolve();
  #stopped = true;
  #published = 0;
  #before = 0;

  constructor(scene: Pick<Scene, 'receivers' | 'publisher'>, deliveriesAnEvent: number) {
    this.#scene = scene;
    this.#deliveriesAnEvent = deliveriesAnEvent;
  }

  async start(): Promise<void> {
    this.#before = (await this.#scene.receivers.ask('sample')).answered;
    this.#published = 0;
    this.#stopped = false;
    this.#running = this.#run();
  }

  /** Fulfilled when all that was published has arrived. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
    const deadline = performance.now() + DRAINED_WITHIN_MS;
    while ((await this.#underWay()) > 0) {
      if (performance.now() > deadline) throw new Error(`${await this.#underWay()} events did not arrive`);
      await delay(LOOK_EVERY_MS);
    }
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      if ((await this.#underWay()) < MOST_EVENTS) {
        await this.#scene.publisher.ask('publish', MOST_EVENTS / 2);
        this.#published += MOST_EVENTS / 2;
      } else await delay(LOOK_EVERY_MS);
    }
  }

  async #underWay(): Promise<number> {
    const { answered } = await this.#scene.receivers.ask('sample');
    return this.#published - (answered - this.#before) / this.#deliveriesAnEvent;
  }
}
