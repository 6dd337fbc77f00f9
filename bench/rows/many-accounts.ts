/**
 * A restart with many accounts in the read model: the longest that /health/live takes to respond, asked every few ms until the
 * service is ready. Supervisors end a process that does not respond.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import { startServing } from '../../test/support/clients/service.js';
import { amount } from '../support/format.js';
import { endsWithUs, type Installation, openInstallation, profiling } from '../support/installation.js';
import { populate } from '../support/population.js';
import { eachRound } from '../support/rounds.js';
import type { Outcome, Row, Tell } from '../support/row.js';
import { ACCOUNTS } from '../support/sizes.js';

const ASK_EVERY_MS = 5;
/** The first start folds the history of all accounts. */
const READY_WITHIN_MS = 30 * 60_000;

export const manyAccounts: Row = {
  name: 'many-accounts',
  title: `Restart with ${ACCOUNTS.toLocaleString('en-US')} accounts: longest time that /health/live takes`,
  figure: { kind: 'below', value: 200, unit: 'ms' },
  run,
};

interface Start {
  readonly longestMs: number;
  readonly seconds: number;
}

async function run(tell: Tell): Promise<Outcome> {
  const installation = await openInstallation({ receivers: 0 });
  try {
    await populate(installation.settings, { accounts: ACCOUNTS, urls: () => [] }, tell);
    const said = ({ longestMs, seconds }: Start) => `${amount(longestMs, 'ms')}, ready after ${amount(seconds, 's')}`;
    const first = await started(installation);
    tell(`first start, which builds the read model: ${said(first)}`);
    const restarts = await eachRound(tell, () => started(installation), said);
    return {
      kind: 'measured',
      values: restarts.map(({ longestMs }) => longestMs),
      sides: [
        { name: 'until ready', unit: 's', values: restarts.map(({ seconds }) => seconds) },
        { name: 'first start, which builds the read model', unit: 'ms', values: [first.longestMs] },
      ],
      notes: [],
    };
  } finally {
    await installation.close();
  }
}

async function started({ settings }: Installation): Promise<Start> {
  const begun = performance.now();
  const starting = await startServing({ ...settings, ...profiling() }, [], READY_WITHIN_MS);
  endsWithUs(starting);
  const ended = new AbortController();
  const watched = longestResponse(`${starting.adminUrl}/health/live`, ended.signal);
  const service = await starting.ready;
  const seconds = (performance.now() - begun) / 1_000;
  ended.abort();
  const longestMs = await watched;
  await service.stop('SIGTERM');
  return { longestMs, seconds };
}

async function longestResponse(url: string, signal: AbortSignal): Promise<number> {
  let longest = 0;
  while (!signal.aborted) {
    const begun = performance.now();
    await (await request(url)).body.dump();
    longest = Math.max(longest, performance.now() - begun);
    await delay(ASK_EVERY_MS);
  }
  return longest;
}
