/** A dispute behind 10,000 ordinary payments for the same URL of 100 ms, one per second, from its publication to its arrival. */
import { apiClient } from '../support/api-client.js';
import { type BurstScene, collectArrivals, openBurstScene, openPublisher } from '../support/burst-scene.js';
import { machineMs } from '../support/clock.js';
import { amount } from '../support/format.js';
import { eachRound } from '../support/rounds.js';
import type { Outcome, Row, Tell } from '../support/row.js';
import { tokenOf } from '../support/tokens.js';

const [ACCOUNT, ANSWER_MS, ORDINARY] = [1, 100, 10_000];
const BATCH_SIZE = 500;
const WARM_UP = { perSecond: 20, seconds: 3 };
const DISPUTES = { perSecond: 1, seconds: 10 };
const WITHIN_MS = 60_000;

export const urgent: Row = {
  name: 'urgent',
  title: `A med_created behind ${ORDINARY.toLocaleString('en-US')} cash_in of one URL of ${ANSWER_MS} ms, the slowest of ${DISPUTES.seconds}`,
  figure: { kind: 'below', value: 1_000, unit: 'ms' },
  run,
};

async function run(tell: Tell): Promise<Outcome> {
  const values = await eachRound(
    tell,
    () => turn(tell),
    (ms) => amount(ms, 'ms'),
  );
  return { kind: 'measured', values, sides: [], notes: [] };
}

async function turn(tell: Tell): Promise<number> {
  const options = { accounts: ACCOUNT, urls: 1, origins: 1, answersAfterMs: ANSWER_MS, alongsideMs: [] };
  const scene = await openBurstScene(options, tell);
  const { receivers, publisher, service, origins } = scene;
  const disputes = await openPublisher(scene, { first: ACCOUNT, count: 1 }, 'med_created');
  try {
    const register = apiClient(service.url, await tokenOf(service.url, ACCOUNT));
    await register('/api/webhooks', { url: `${origins[0]}/after${ANSWER_MS}/1/0`, eventType: 'med_created' });
    await collectArrivals(receivers, await publisher.ask('publishSteadily', WARM_UP), WITHIN_MS);
    for (let n = 0; n < ORDINARY; n += BATCH_SIZE) await publisher.ask('publish', BATCH_SIZE);
    const startedAt = machineMs();
    const published = await disputes.ask('publishSteadily', DISPUTES);
    const times = await collectTimes(scene, startedAt, published);
    tell(`in order of arrival: ${times.map((ms) => amount(ms, 'ms')).join(', ')}`);
    return times.length < published ? Number.POSITIVE_INFINITY : Math.max(...times);
  } finally {
    await disputes.stop();
    await scene.close();
  }
}

/** @returns ms of each dispute @param since everything published from then on is a dispute */
async function collectTimes(
  { receivers }: Pick<BurstScene, 'receivers'>,
  since: number,
  count: number,
): Promise<readonly number[]> {
  const times: number[] = [];
  const deadline = performance.now() + WITHIN_MS;
  while (times.length < count && performance.now() < deadline) {
    const arrivals = await collectArrivals(receivers, 1, WITHIN_MS);
    times.push(...arrivals.filter((one) => one.publishedAt >= since).map((one) => one.at - one.publishedAt));
  }
  return times;
}
