import { setTimeout as delay } from 'node:timers/promises';
import { isUnknownTopic } from './kafka-errors.js';

const MOST_TRIES = 10;
const TRY_AGAIN_MS = 200;

/** Not every broker knows a new topic at once: the request is retried for two seconds. */
export async function onceKnown<T>(ask: () => Promise<T>, passes = isUnknownTopic): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await ask();
    } catch (error) {
      if (!passes(error) || tries === MOST_TRIES) throw error;
      await delay(TRY_AGAIN_MS);
    }
  }
}
