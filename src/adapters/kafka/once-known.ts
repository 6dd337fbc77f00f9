import { setTimeout as delay } from 'node:timers/promises';
import { isUnknownTopic } from './kafka-errors.js';

const MOST_TRIES = 10;
const TRY_AGAIN_MS = 200;

/** A topic that was made just now is not known at once to every broker: it is asked for again, for two seconds. */
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
