/**
 * What another account feels of one that is at every limit and does its worst: 40 connections that pipeline 32 GETs each and
 * read nothing; then as many that read what they get, of each operation, also those that send its 900 failing deliveries again.
 * A small account is asked for its list all the while, and gets payments.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import { peakMemoryMiB } from '../../test/support/process-stats.js';
import type { Settings } from '../../test/support/service.js';
import type { Answers, Attack, handlers as hostileHandlers } from '../processes/hostile-clients.js';
import { Child } from '../support/child.js';
import { amount } from '../support/format.js';
import { openInstallation, startService } from '../support/installation.js';
import { type ApiClient, fillAccount } from '../support/largest-account.js';
import { populate } from '../support/population.js';
import type { Outcome, Row, Tell } from '../support/row.js';
import { ROUNDS, WARM_UP_SECONDS } from '../support/sizes.js';
import { type Felt, felt, feltText, type SmallAccount } from '../support/small-account.js';
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

interface Seen extends Felt {
  readonly answers: Answers;
}

async function run(tell: Tell): Promise<Outcome> {
  const scene = await open(tell);
  try {
    const quiet = await feltBeside(scene, null);
    tell(`nobody else: ${told(quiet)}`);
    const rounds: Record<string, Seen>[] = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      const ofRound: Record<string, Seen> = {};
      for (const [name, way] of Object.entries(scene.ways)) {
        ofRound[name] = await feltBeside(scene, way);
        tell(`round ${round}, ${name}: ${told(ofRound[name])}`);
      }
      rounds.push(ofRound);
    }
    return outcome(Object.keys(scene.ways), rounds, quiet, peakMemoryMiB(scene.service.pid));
  } finally {
    await scene.close();
  }
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
  const webhooks = await fillAccount({ url: service.url, token: hostileToken }, 'https://localhost');
  const active = webhooks.filter(({ isActive }) => isActive).length;
  tell(`the hostile account has ${webhooks.length} webhooks, ${active} of them active`);
  const deliveries = await failingDeliveries(settings, { url: service.url, token: hostileToken });
  tell(`of its deliveries, ${deliveries.length} can be sent again`);
  const ways = waysOf(hostileToken, webhooks, deliveries);
  return { ...installation, service, publisher, hostile, token: await tokenOf(service.url, HEALTHY), ways, close };
}

/** The ids of the newest ones. */
async function failingDeliveries(settings: Settings, { url, token }: ApiClient): Promise<readonly string[]> {
  const publisher: Scene['publisher'] = await Child.start('publisher');
  await publisher.ask('open', { settings, accounts: { first: HOSTILE, count: 1 } });
  await publisher.ask('publishSteadily', FAILING);
  await publisher.stop();
  for (;;) {
    const { body } = await request(`${url}/api/deliveries?limit=200`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const { deliveries } = (await body.json()) as { deliveries: { id: string }[] };
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

async function feltBeside(scene: Scene, way: Way | null): Promise<Seen> {
  const { service, hostile } = scene;
  const port = Number(new URL(service.url).port);
  if (way) await hostile.ask('begin', { port, connections: CONNECTIONS, ...way });
  try {
    await delay(WARM_UP_SECONDS * 1_000);
    const seen = await felt(scene);
    return { ...seen, answers: await hostile.ask('end') };
  } finally {
    await hostile.ask('end');
  }
}

function outcome(
  names: readonly string[],
  rounds: readonly Record<string, Seen>[],
  quiet: Seen,
  memoryMiB: number,
): Outcome {
  const of = (name: string, value: (seen: Seen) => number) => rounds.map((round) => value(round[name] ?? quiet));
  const worst = (round: Record<string, Seen>) =>
    Math.max(...Object.values(round).flatMap(({ gets, deliveries }) => [gets, deliveries]));
  const holds = memoryMiB < MEMORY_LIMIT_MIB ? 'below' : 'NOT below';
  return {
    kind: 'measured',
    values: rounds.map(worst),
    sides: names.flatMap((name) => [
      { name: `${name}: GETs`, unit: 'ms' as const, values: of(name, ({ gets }) => gets) },
      { name: `${name}: deliveries`, unit: 'ms' as const, values: of(name, ({ deliveries }) => deliveries) },
    ]),
    notes: [
      `Most resident: ${amount(memoryMiB, 'MiB')}, ${holds} ${MEMORY_LIMIT_MIB}.`,
      `With nobody else: ${told(quiet)}.`,
    ],
  };
}

function told({ answers, ...seen }: Seen): string {
  const heard = Object.entries(answers).map(([status, count]) => `${count} times ${status}`);
  return [feltText(seen), ...heard].join(', ');
}
