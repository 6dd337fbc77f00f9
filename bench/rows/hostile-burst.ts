/**
 * A burst of 4,000 payments to 1,200 hostile URLs of 400 accounts, each hostile in one of eight ways, in the topic of two healthy
 * accounts at 20/s, with a publisher each. Their figures are of the time in which the first attempts of the burst time out.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { handlers as hostileHandlers } from '../processes/hostile.js';
import { openBurstScene, withHealthyAlongside } from '../support/burst-scene.js';
import { Child } from '../support/child.js';
import { amount } from '../support/format.js';
import { eachRound, sharedRows } from '../support/rounds.js';
import type { Tell } from '../support/row.js';
import { HOSTILE_ACCOUNTS } from '../support/sizes.js';

const [URLS, PAYMENTS, BATCH_SIZE] = [3, 4_000, 500];
/** DELIVERY_TIMEOUT is 15 s. */
const WATCHED_MS = 20_000;

type P99 = readonly number[];

export const hostileBurst = sharedRows<P99>(
  (tell) =>
    eachRound(
      tell,
      () => turn(tell),
      (p99) => `p99 of 10 and 150 ms: ${p99.map((ms) => amount(ms, 'ms')).join(', ')}`,
    ),
  [
    [
      'hostile-burst',
      `${PAYMENTS.toLocaleString('en-US')} payments in one burst to ${HOSTILE_ACCOUNTS * URLS} hostile URLs of ${HOSTILE_ACCOUNTS} accounts: a healthy one with receivers of 10 ms, p99`,
      { kind: 'below', value: 1_000, unit: 'ms' },
      ([well = Number.NaN]) => well,
    ],
    [
      'hostile-burst-150',
      'The same: one with receivers of 150 ms, p99',
      { kind: 'below', value: 1_000, unit: 'ms' },
      ([, slower = Number.NaN]) => slower,
    ],
  ],
);

async function turn(tell: Tell): Promise<P99> {
  const hostile: Child<typeof hostileHandlers> = await Child.start('hostile');
  const ports = await hostile.ask('listen');
  const toUrl = (id: number, n: number) => `https://localhost:${ports[(id + n) % ports.length]}/${id}/${n}`;
  const options = { accounts: HOSTILE_ACCOUNTS, urls: URLS, origins: 0, answersAfterMs: 0, toUrl };
  const scene = await openBurstScene(options, tell);
  try {
    const { p99 } = await withHealthyAlongside(scene.alongside, async () => {
      for (let n = 0; n < PAYMENTS; n += BATCH_SIZE) await scene.publisher.ask('publish', BATCH_SIZE);
      await delay(WATCHED_MS);
    });
    return p99;
  } finally {
    await scene.close();
    await hostile.stop();
  }
}
