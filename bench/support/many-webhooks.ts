/** The store of the rows on memory and on the start: so many webhooks, three for each account. */
import { history } from './history.js';
import type { Population } from './population.js';
import type { Tell } from './row.js';
import { WEBHOOKS } from './sizes.js';

/** They stand in the cached store, so they have to be the same in each run. */
export const RECEIVER_PORT = 20_443;
export const ACCOUNTS = Math.ceil(WEBHOOKS / 3);

/** @returns DATA_DIR */
export function manyWebhooks(tell: Tell): Promise<string> {
  const origin = `https://localhost:${RECEIVER_PORT}`;
  const population: Population = {
    accounts: ACCOUNTS,
    urls: (accountId) => ['one', 'two', 'three'].map((name) => `${origin}/${name}/${accountId}`),
  };
  return history(`webhooks-${3 * ACCOUNTS}`, population, tell);
}
