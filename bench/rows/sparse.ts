/**
 * A thousand URLs, each at an origin of its own, with one event every ten seconds each: connections have to outlive the
 * pauses, or every delivery pays for a TLS handshake. Two figures of the same windows, after the first minute.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { cpuMs } from '../../test/support/clients/process-stats.js';
import { scrape } from '../../test/support/clients/scrape.js';
import type { Service } from '../../test/support/clients/service.js';
import type { handlers as publisherHandlers } from '../processes/publisher.js';
import { Child } from '../support/child.js';
import { amount } from '../support/format.js';
import { type Installation, openInstallation, startService } from '../support/installation.js';
import { populate } from '../support/population.js';
import { eachRound, sharedRows } from '../support/rounds.js';
import type { Tell } from '../support/row.js';
import { SECONDS } from '../support/sizes.js';
import { percentile } from '../support/statistics.js';

const URLS = 1_000;
const PER_SECOND = 100;
const FIRST_SECONDS = 6 * SECONDS;
const WINDOW_SECONDS = 3 * SECONDS;
const CONNECTIONS = 'account_webhooks_connections_total';

interface Seen {
  readonly connectionsEach: number;
  readonly cpuUsEach: number;
  readonly p99Ms: number;
}

const TITLE = '1,000 URLs, one event each 10 s to each: connections a delivery';

export const sparse = sharedRows<Seen>(
  allWindows,
  [
    ['sparse', TITLE, { kind: 'below', value: 0.02, unit: 'ratio' }, ({ connectionsEach }) => connectionsEach],
    [
      'sparse-cpu',
      'The same: CPU a delivery',
      { kind: 'below', value: 3_300, unit: 'us' },
      ({ cpuUsEach }) => cpuUsEach,
    ],
  ],
  (seen) => ({ sides: [{ name: 'p99', unit: 'ms', values: seen.map(({ p99Ms }) => p99Ms) }] }),
);

async function allWindows(tell: Tell): Promise<readonly Seen[]> {
  const installation = await openInstallation({ receivers: URLS, settings: { ALLOWED_PORTS: '443,1024-65535' } });
  const { settings, origins, receivers } = installation;
  await populate(settings, { accounts: URLS, urls: (accountId) => [`${origins[accountId - 1]}/`] }, tell);
  const service = await startService(settings);
  const publisher: Child<typeof publisherHandlers> = await Child.start('publisher');
  await publisher.ask('open', { settings, accounts: { first: 1, count: URLS } });
  const publishing = publisher.ask('publishSteadily', { perSecond: PER_SECOND, seconds: Number.POSITIVE_INFINITY });
  try {
    await receivers.ask('timed');
    await delay(FIRST_SECONDS * 1_000);
    const said = ({ connectionsEach, cpuUsEach }: Seen) =>
      `${amount(connectionsEach, 'ratio')} connections and ${amount(cpuUsEach, 'us')} a delivery`;
    return await eachRound(tell, () => window(service, installation), said);
  } finally {
    await publisher.ask('publishNoMore');
    await publishing;
    await publisher.stop();
    await service.stop('SIGTERM');
    await installation.close();
  }
}

async function window(service: Service, { receivers }: Installation): Promise<Seen> {
  await receivers.ask('latencies');
  const before = await looked(service);
  await delay(WINDOW_SECONDS * 1_000);
  const after = await looked(service);
  const times = await receivers.ask('latencies');
  return {
    connectionsEach: (after.connections - before.connections) / times.length,
    cpuUsEach: (1_000 * (after.cpu - before.cpu)) / times.length,
    p99Ms: percentile(times, 99),
  };
}

async function looked({ adminUrl, pid }: Service) {
  const connections = (await scrape(adminUrl)).value(CONNECTIONS) ?? 0;
  return { connections, cpu: cpuMs(pid) };
}
