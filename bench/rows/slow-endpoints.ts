/**
 * Endpoints that are slow, but answer: more attempts of them are in flight than there are slots. Beside them healthy accounts
 * with receivers of 10 and of 150 ms. Figures of the same turns.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { handlers as publisherHandlers } from '../processes/publisher.js';
import { Child } from '../support/child.js';
import { amount } from '../support/format.js';
import { HealthyAccount } from '../support/healthy-account.js';
import { openInstallation, startService } from '../support/installation.js';
import { watchInFlight } from '../support/most-in-flight.js';
import { populate } from '../support/population.js';
import { eachRound, sharedRows } from '../support/rounds.js';
import type { Tell } from '../support/row.js';
import { SECONDS } from '../support/sizes.js';
import { percentile } from '../support/statistics.js';

const SLOW = 150;
const SLOW_MS = 900;
/** Of each. Together 675 attempts are in flight. */
const SLOW_PER_SECOND = 5;
const PER_SECOND = 20;
/** They are there, and known, when the others begin: from a start, newcomers wait up to 1 s for the first two seconds. */
const LEAD_SECONDS = 10;

interface Seen {
  readonly wellMs: readonly number[];
  readonly slowerMs: readonly number[];
  readonly inFlight: number;
}

const p99 = (times: readonly number[]) => percentile(times, 99);

const row = sharedRows<Seen>(
  (tell) =>
    eachRound(
      tell,
      () => turn(tell),
      ({ wellMs, slowerMs, inFlight }) => {
        const [well, slower] = [wellMs, slowerMs].map((times) => amount(p99(times), 'ms'));
        return `p99 of 10 ms ${well}, of 150 ms ${slower}, ${inFlight} in flight`;
      },
    ),
  (seen) => ({ notes: [`Most attempts in flight: ${seen.map(({ inFlight }) => inFlight).join(', ')}.`] }),
);

export const slowEndpoints = row(
  'slow-endpoints',
  `${SLOW} endpoints of ${SLOW_MS} ms beside, ${SLOW_PER_SECOND}/s each: an account with receivers of 10 ms, p99`,
  { kind: 'below', value: 250, unit: 'ms' },
  ({ wellMs }) => p99(wellMs),
);

export const slowEndpoints150 = row(
  'slow-endpoints-150',
  'The same: one with receivers of 150 ms, p99',
  { kind: 'below', value: 500, unit: 'ms' },
  ({ slowerMs }) => p99(slowerMs),
);

/** A new service each: what it knows of the slow ones it learns while the others are there. */
async function turn(tell: Tell): Promise<Seen> {
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
