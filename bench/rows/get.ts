/** GET /api/webhooks against a bare Koa route with the same body and a look-up of the token. They take turns. */
import { request } from 'undici';
import { cpuMs } from '../../test/support/clients/process-stats.js';
import type { handlers as koaHandlers } from '../processes/bare-koa.js';
import type { handlers as loadHandlers } from '../processes/http-load.js';
import { Child } from '../support/child.js';
import { amount } from '../support/format.js';
import { openInstallation, startService } from '../support/installation.js';
import { populate } from '../support/population.js';
import { eachRound } from '../support/rounds.js';
import type { Outcome, Row, Tell } from '../support/row.js';
import { SECONDS, WARM_UP_SECONDS } from '../support/sizes.js';
import { percentile, summary } from '../support/statistics.js';
import { tokenOf } from '../support/tokens.js';

const PATH = '/api/webhooks';
const CONNECTIONS = 32;

export const get: Row = {
  name: 'get',
  title: 'GET /api/webhooks against a bare Koa route with the same body and a token check',
  figure: { kind: 'at least', value: 0.75, unit: 'ratio' },
  run,
};

interface Server {
  readonly pid: number;
  readonly port: number;
  readonly token: string;
}

interface Turn {
  readonly perSecond: number;
  /** CPU of the server for each, microseconds, its warm-up included. */
  readonly cpuUs: number;
  readonly p99: number;
}

type LoadProcess = Child<typeof loadHandlers>;

async function run(tell: Tell): Promise<Outcome> {
  const installation = await openInstallation();
  const urls = () => installation.origins.map((origin) => `${origin}/payments`);
  await populate(installation.settings, { accounts: 1, urls }, tell);
  const service = await startService(installation.settings);
  const koa: Child<typeof koaHandlers> = await Child.start('bare-koa');
  const load: LoadProcess = await Child.start('http-load');
  try {
    const token = await tokenOf(service.url, 1);
    const { body: answer } = await request(`${service.url}${PATH}`, { headers: { authorization: `Bearer ${token}` } });
    const body = await answer.text();
    const port = await koa.ask('listen', { path: PATH, token, body });
    return await inTurn(load, {
      bare: { pid: koa.pid, port, token },
      service: { pid: service.pid, port: Number(new URL(service.url).port), token },
      tell,
    });
  } finally {
    await Promise.all([koa.stop(), load.stop(), service.stop('SIGTERM')]);
    await installation.close();
  }
}

async function inTurn(
  load: LoadProcess,
  { bare, service, tell }: { bare: Server; service: Server; tell: Tell },
): Promise<Outcome> {
  const turns = async () => ({ bare: await turn(load, bare), service: await turn(load, service) });
  const rounds = await eachRound(
    tell,
    turns,
    (both) =>
      `Koa ${amount(both.bare.perSecond, 'a second')}, the service ${amount(both.service.perSecond, 'a second')}`,
  );
  const median = (of: (round: (typeof rounds)[number]) => number) => summary(rounds.map(of)).median;
  const us = (side: 'bare' | 'service') => `${Math.round(median((round) => round[side].cpuUs))} us`;
  return {
    kind: 'measured',
    values: rounds.map((round) => round.service.perSecond / round.bare.perSecond),
    sides: [
      { name: 'bare Koa', unit: 'a second', values: rounds.map((round) => round.bare.perSecond) },
      { name: 'the service', unit: 'a second', values: rounds.map((round) => round.service.perSecond) },
      { name: 'p99 of the service', unit: 'ms', values: rounds.map((round) => round.service.p99) },
    ],
    notes: [`CPU a request: ${us('bare')} in bare Koa, ${us('service')} in the service.`],
  };
}

async function turn(load: LoadProcess, { pid, port, token }: Server): Promise<Turn> {
  const before = cpuMs(pid);
  const { perSecond, times } = await load.ask('load', {
    port,
    connections: CONNECTIONS,
    warmUpSeconds: WARM_UP_SECONDS,
    seconds: SECONDS,
    requests: { kind: 'get', path: PATH, tokens: [token] },
  });
  const seconds = SECONDS + WARM_UP_SECONDS;
  return {
    perSecond,
    cpuUs: (1_000 * (cpuMs(pid) - before)) / (perSecond * seconds),
    p99: percentile(times, 99),
  };
}
