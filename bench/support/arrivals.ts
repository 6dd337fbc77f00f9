/** Waits until so many deliveries more have been answered than before. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Receivers } from './installation.js';

const ARRIVED_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 20;

/** @returns the machine's ms at which they had */
export async function allArrived(
  receivers: Receivers,
  count: number,
  before: { answered: number },
  withinMs = ARRIVED_WITHIN_MS,
): Promise<number> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const { answered, at } = await receivers.ask('sample');
    if (answered - before.answered >= count) return at;
    if (performance.now() > deadline) throw new Error(`of ${count} deliveries, ${answered - before.answered} came`);
    await delay(LOOK_EVERY_MS);
  }
}
