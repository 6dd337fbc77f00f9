/**
 * What another account feels of one that is at every limit and does its worst: 40 connections that pipeline 32 GETs each and
 * read nothing; then as many that read what they get, of each operation, also those that send its 900 failing deliveries again.
 * A small account is asked for its list all the while, and gets payments.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Settings } from '../../test/support/clients/service.js';
import type { Answers, Attack, handlers as hostileHandlers } from '../processes/hostile-clients.js';
import { type Ask, apiClient } from '../support/api-client.js';
import { Child } from '../support/child.js';
import { openInstallation, startService } from '../support/installation.js';
import { fillAccount } from '../support/largest-account.js';
import { populate } from '../support/population.js';
import type { Outcome, Row, Tell } from '../support/row.js';
import { feltBeside, type SmallAccount } from '../support/small-account.js';
import { tokenOf } from '../support/tokens.js';

const LOOK_EVERY_MS = 100;
const HEALTHY = 1;
const HOSTILE = 2;
const CONNECTIONS = 40;
const PIPELINED = 32;
const MEMORY_LIMIT_MIB = 300;
/** Of the hostile account, to three URLs where nobody listens. */
const FAILING = { perSecond: 100, seconds: 3 };

export const accountAtLimits: Row = {
  name: 'account-at-limits',
  title: `An account at every limit, ${CONNECTIONS} connections by turns unread and of each operation: p99 of another's GETs and deliveries, the worse`,
  figure: { kind: 'below', value: 250, unit: 'ms' },
  run,
};

type Way = Pick<Attack, 'requests' | 'pipelined'>;

interface Scene extends SmallAccount {
  readonly hostile: Child<typeof hostileHandlers>;
  readonly ways: Readonly<Record<string, Way>>;
  close(): Promise<void>;
}

async function run(tell: Tell): Promise<Outcome> {
  const scene = await open(tell);
  const { service, hostile } = scene;
  const port = Number(new URL(service.url).port);
  const disturb = (way: Way) => async () => {
    await hostile.ask('begin', { port, connections: CONNECTIONS, ...way });
    return async () => told(await hostile.ask('end'));
  };
  const ways = Object.fromEntries(Object.entries(scene.ways).map(([name, way]) => [name, disturb(way)]));
  return feltBeside(scene, ways, { tell, limitMiB: MEMORY_LIMIT_MIB }).finally(scene.close);
}

async function open(tell: Tell): Promise<Scene> {
  const installation = await openInstallation();
  const { settings, origins } = installation;
  const urls = (accountId: number) => (accountId === HEALTHY ? origins.map((origin) => `${origin}/payments`) : []);
  await populate(settings, { accounts: HOSTILE, urls }, tell);
  const service = await startService(settings);
  const publisher: Scene['publisher'] = await Child.start('publisher');
  await publisher.ask('open', { settings, accounts: { first: HEALTHY, count: 1 } });
  const hostile: Scene['hostile'] = await Child.start('hostile-clients');
  const close = async () => {
    await Promise.all([publisher.stop(), hostile.stop()]);
    await service.stop('SIGTERM');
    await installation.close();
  };
  const hostileToken = await tokenOf(service.url, HOSTILE);
  const ask = apiClient(service.url, hostileToken);
  const webhooks = await fillAccount(ask, 'https://localhost');
  const active = webhooks.filter(({ isActive }) => isActive).length;
  tell(`the hostile account has ${webhooks.length} webhooks, ${active} of them active`);
  const deliveries = await failingDeliveries(settings, ask);
  tell(`of its deliveries, ${deliveries.length} can be sent again`);
  const ways = waysOf(hostileToken, webhooks, deliveries);
  return { ...installation, service, publisher, hostile, token: await tokenOf(service.url, HEALTHY), ways, close };
}

/** The ids of the newest ones. */
async function failingDeliveries(settings: Settings, ask: Ask): Promise<readonly string[]> {
  const publisher: Scene['publisher'] = await Child.start('publisher');
  await publisher.ask('open', { settings, accounts: { first: HOSTILE, count: 1 } });
  await publisher.ask('publishSteadily', FAILING);
  await publisher.stop();
  for (;;) {
    const { deliveries } = await ask<{ deliveries: { id: string }[] }>('/api/deliveries?limit=200');
    if (deliveries.length === 200) return deliveries.map(({ id }) => id);
    await delay(LOOK_EVERY_MS);
  }
}

/** What the account has a right to, each at its worst. */
function waysOf(
  token: string,
  webhooks: readonly { id: number; isActive: boolean }[],
  resent: readonly string[],
): Record<string, Way> {
  const tokens = [token];
  const get = (path: string): Way => ({ requests: { kind: 'get', path, tokens }, pipelined: null });
  const ids = webhooks.filter(({ isActive }) => isActive).map(({ id }) => id);
  const list = get('/api/webhooks');
  return {
    unread: { ...list, pipelined: PIPELINED },
    lists: list,
    deliveries: get(`/api/webhooks/${ids[0]}/deliveries`),
    filtered: get('/api/deliveries?status=2xx'),
    events: get('/api/events?limit=200'),
    stats: get('/api/stats?step=1m'),
    history: get('/api/history?limit=200'),
    resends: { requests: { kind: 'resend', tokens, deliveries: resent }, pipelined: null },
    recoveries: { requests: { kind: 'recover', tokens, ids }, pipelined: null },
    switches: { requests: { kind: 'switch', tokens, ids }, pipelined: null },
  };
}

function told(answers: Answers): string {
  return Object.entries(answers)
    .map(([status, count]) => `${count} times ${status}`)
    .join(', ');
}
