/**
 * Endpoints that are slow, but answer: more attempts of them are in flight than there are slots. Beside them healthy accounts
 * with receivers of 10 and of 150 ms. Figures of the same turns.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { handlers as publisherHandlers } from '../processes/publisher.js';
import { Child } from '../support/child.js';
import { HealthyAccount } from '../support/healthy-account.js';
import { mostInFlight, rowsOfTwo, saidOfTwo, type TwoSeen, watchInFlight } from '../support/healthy-two.js';
import { openInstallation, startService } from '../support/installation.js';
import { populate } from '../support/population.js';
import { eachRound, sharedRows } from '../support/rounds.js';
import type { Tell } from '../support/row.js';
import { SECONDS } from '../support/sizes.js';

const SLOW = 150;
const SLOW_MS = 900;
/** Of each. Together 675 attempts are in flight. */
const SLOW_PER_SECOND = 5;
const PER_SECOND = 20;
/** They are there, and known, when the others begin: from a start, newcomers wait up to 1 s for the first two seconds. */
const LEAD_SECONDS = 10;

export const slowEndpoints = sharedRows<TwoSeen>(
  (tell) => eachRound(tell, () => turn(tell), saidOfTwo),
  rowsOfTwo(
    'slow-endpoints',
    `${SLOW} endpoints of ${SLOW_MS} ms beside, ${SLOW_PER_SECOND}/s each: an account with receivers of 10 ms, p99`,
  ),
  mostInFlight,
);

/** A new service each: what it knows of the slow ones it learns while the others are there. */
async function turn(tell: Tell): Promise<TwoSeen> {
  const [well, slower, slow] = await Promise.all([
    HealthyAccount.open(SLOW + 1, 10),
    HealthyAccount.open(SLOW + 2, 150),
    HealthyAccount.open(1, SLOW_MS),
  ]);
  const installation = await openInstallation({ receivers: 0, settings: { ALLOWED_PORTS: '443,1024-65535' } });
  const { settings } = installation;
  const own = new Map([well, slower].map(({ id, urls }) => [id, urls]));
  const urls = (id: number) => own.get(id) ?? slow.urls.slice(0, 1).map((url) => `${url}/${id}`);
  await populate(settings, { accounts: slower.id, urls }, tell);
  const service = await startService(settings);
  const publisher: Child<typeof publisherHandlers> = await Child.start('publisher');
  const inFlight = watchInFlight(service);
  try {
    await Promise.all([
      ...[well, slower].map((one) => one.ready(settings)),
      publisher.ask('open', { settings, accounts: { first: 1, count: SLOW } }),
    ]);
    const seconds = LEAD_SECONDS + SECONDS;
    const published = publisher.ask('publishSteadily', { perSecond: SLOW * SLOW_PER_SECOND, seconds });
    await delay(LEAD_SECONDS * 1_000);
    const steadily = { perSecond: PER_SECOND, seconds: SECONDS };
    const [wellMs, slowerMs] = await Promise.all([well.publishes(steadily), slower.publishes(steadily)]);
    await published;
    return { wellMs, slowerMs, inFlight: await inFlight() };
  } finally {
    await inFlight();
    await Promise.all([publisher, well, slower, slow].map((each) => each.stop()));
    await service.stop('SIGTERM');
    await installation.close();
  }
}
