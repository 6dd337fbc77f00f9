/** How many attempts a service had in flight at most, as its metrics say so often. */
import { setTimeout as delay } from 'node:timers/promises';
import { scrape } from '../../test/support/scrape.js';
import type { Service } from '../../test/support/service.js';

const IN_FLIGHT = 'account_webhooks_attempts_in_flight';
const LOOK_EVERY_MS = 250;

/** @returns ends it, and says how many */
export function watchInFlight({ adminUrl }: Service): () => Promise<number> {
  const ended = new AbortController();
  const watching = watch(adminUrl, ended.signal);
  // Told by who ends it.
  watching.catch(() => undefined);
  return () => {
    ended.abort();
    return watching;
  };
}

async function watch(adminUrl: string, ended: AbortSignal): Promise<number> {
  let most = 0;
  while (!ended.aborted) {
    most = Math.max(most, (await scrape(adminUrl)).value(IN_FLIGHT) ?? 0);
    await delay(LOOK_EVERY_MS);
  }
  return most;
}
