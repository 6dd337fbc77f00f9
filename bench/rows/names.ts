/**
 * Receivers with a name each: a start with a payment waiting for each of them while the name server takes 50 ms per response,
 * and an account whose name server never responds, beside another account.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { cpuMs } from '../../test/support/clients/process-stats.js';
import { scrape } from '../../test/support/clients/scrape.js';
import type { Service, Settings } from '../../test/support/clients/service.js';
import { certificateFor } from '../../test/support/servers/certificates.js';
import { startNameServer } from '../../test/support/servers/name-server.js';
import type { handlers as publisherHandlers } from '../processes/publisher.js';
import { allArrived } from '../support/arrivals.js';
import { Child } from '../support/child.js';
import { machineMs } from '../support/clock.js';
import { amount } from '../support/format.js';
import { openInstallation, type Receivers, startService } from '../support/installation.js';
import { populate } from '../support/population.js';
import { eachRound, sharedRows } from '../support/rounds.js';
import type { Row, Tell } from '../support/row.js';

const DOMAIN = 'receivers.test';
const [ACCOUNTS, URLS, RESPONSE_MS] = [350, 3, 50];
const [SILENT_ACCOUNT, OTHER_ACCOUNT, SILENT_NAMES, SILENT_FOR_MS] = [1, 2, 200, 500];
/** What fails is sent again minutes later. */
const SENT_WITHIN_MS = 15 * 60_000;
const SILENT = 'silent-';
const ATTEMPTS = 'account_webhooks_attempt_duration_seconds_count';

interface Named {
  readonly settings: Settings;
  readonly receivers: Receivers;
  readonly publisher: Child<typeof publisherHandlers>;
}

interface Started {
  readonly lastSeconds: number;
  readonly failed: number;
  /** Of the service until then: a lower bound on a busy machine. */
  readonly cpuSeconds: number;
}

const START = `${(ACCOUNTS * URLS).toLocaleString('en-US')} names that resolve in ${RESPONSE_MS} ms, a delivery waiting for each`;

export const names: readonly Row[] = [
  ...sharedRows<Started>(
    (tell) =>
      eachRound(
        tell,
        () =>
          withNames({ accounts: ACCOUNTS, host: (account, n) => `r${account}-${n}`, urls: () => URLS }, tell, started),
        ({ lastSeconds, failed, cpuSeconds }) =>
          `last ${amount(lastSeconds, 's')} (${amount(cpuSeconds, 's')} of CPU), ${failed} failed`,
      ),
    [
      ['names', `${START}: start to last delivery`, { kind: 'below', value: 5, unit: 's' }, (one) => one.lastSeconds],
      ['names-failed', 'The same: attempts failed', { kind: 'exactly', value: 0, unit: 'failed' }, (one) => one.failed],
    ],
    (seen) => ({ sides: [{ name: 'CPU until then', unit: 's', values: seen.map(({ cpuSeconds }) => cpuSeconds) }] }),
  ),
  ...sharedRows<number>(
    (tell) => {
      const host = (account: number, n: number) => (account === SILENT_ACCOUNT ? `${SILENT}${n}` : `r${account}-${n}`);
      const urls = (account: number) => (account === SILENT_ACCOUNT ? SILENT_NAMES : 1);
      const turn = () => withNames({ accounts: OTHER_ACCOUNT, host, urls }, tell, besideSilent);
      return eachRound(tell, turn, (ms) => amount(ms, 'ms'));
    },
    [
      [
        'silent-names',
        `A name server that never responds for ${SILENT_NAMES} names of one account: first delivery of another`,
        { kind: 'below', value: 1_000, unit: 'ms' },
        (ms) => ms,
      ],
    ],
  ),
];

interface Population {
  readonly accounts: number;
  /** The first label of its n-th URL's host. */
  readonly host: (accountId: number, n: number) => string;
  readonly urls: (accountId: number) => number;
}

async function withNames<T>(
  { accounts, host, urls }: Population,
  tell: Tell,
  measure: (scene: Named) => Promise<T>,
): Promise<T> {
  const nameServer = await startNameServer(async ({ name }) => {
    if (name.startsWith(SILENT)) return 'silent';
    await delay(RESPONSE_MS);
    return name.endsWith(DOMAIN) ? ['127.0.0.1'] : 'absent';
  });
  const receivers: Receivers = await Child.start('receivers');
  const publisher: Named['publisher'] = await Child.start('publisher');
  const [port] = await receivers.ask('listen', { ports: [0], ...(await certificateFor([`*.${DOMAIN}`])) });
  const installation = await openInstallation({ receivers: 0, settings: { ALLOWED_PORTS: `443,${port}` } });
  const preload = new URL('../support/name-server.js', import.meta.url).href;
  const settings = {
    ...installation.settings,
    NODE_OPTIONS: `--import ${preload}`,
    BENCH_NAME_SERVER: nameServer.address,
  };
  const url = (id: number, n: number) => `https://${host(id, n)}.${DOMAIN}:${port}/${id}`;
  try {
    await populate(settings, { accounts, urls: (id) => Array.from({ length: urls(id) }, (_, n) => url(id, n)) }, tell);
    await publisher.ask('open', { settings: installation.settings, accounts: { first: 1, count: accounts } });
    return await measure({ settings, receivers, publisher });
  } finally {
    await Promise.all([publisher.stop(), receivers.stop(), installation.close(), nameServer.close()]);
  }
}

/** The first start makes the groups of the dispatcher, and the second finds a payment for each account. */
async function started({ settings, receivers, publisher }: Named): Promise<Started> {
  await (await startService(settings)).stop('SIGTERM');
  const before = await receivers.ask('sample');
  await publisher.ask('publish', ACCOUNTS);
  const begin = machineMs();
  return served(settings, async ({ adminUrl, pid }) => {
    const lastSeconds = ((await allArrived(receivers, ACCOUNTS * URLS, before, SENT_WITHIN_MS)) - begin) / 1_000;
    return { lastSeconds, failed: await failedAttempts(adminUrl), cpuSeconds: cpuMs(pid) / 1_000 };
  });
}

async function besideSilent({ settings, receivers, publisher }: Named): Promise<number> {
  return served(settings, async () => {
    await publisher.ask('publish', SILENT_ACCOUNT);
    await delay(SILENT_FOR_MS);
    const before = await receivers.ask('sample');
    const begin = machineMs();
    await publisher.ask('publish', 1);
    return (await allArrived(receivers, 1, before)) - begin;
  });
}

async function served<T>(settings: Settings, measure: (service: Service) => Promise<T>): Promise<T> {
  const service = await startService(settings);
  try {
    return await measure(service);
  } finally {
    await service.stop('SIGTERM');
  }
}

async function failedAttempts(adminUrl: string): Promise<number> {
  const metrics = await scrape(adminUrl);
  return (metrics.value(ATTEMPTS) ?? 0) - (metrics.value(ATTEMPTS, { result: '2xx' }) ?? 0);
}
