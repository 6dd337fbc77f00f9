/** What a store of some size costs a service: its starts, its memory, and the time of its answers. */
import type { handlers as loadHandlers } from '../processes/http-load.js';
import { Child } from '../support/child.js';
import { newFolder, remove } from '../support/folders.js';
import { forgetReadModel } from '../support/history.js';
import { openInstallation } from '../support/installation.js';
import { residentMiB } from '../support/memory.js';
import { type Population, populate } from '../support/population.js';
import type { Tell } from '../support/row.js';
import { SECONDS, WARM_UP_SECONDS } from '../support/sizes.js';
import { started } from '../support/started.js';
import { percentile } from '../support/statistics.js';
import { someOf, tokensOf } from '../support/tokens.js';

/** Below what it can take: times, not throughput, are looked at. */
const CONNECTIONS = 4;
const TOKENS = 2_000;

export interface StoreSizeCost {
  readonly rebuildSeconds: number;
  readonly startSeconds: number;
  readonly residentMiB: number;
  readonly getP99: number;
  readonly postP99: number;
}

/** Writes the store, and removes it. */
export async function storeSizeCost(population: Population, tell: Tell): Promise<StoreSizeCost> {
  const dataDir = newFolder();
  const installation = await openInstallation({ dataDir });
  const { settings } = installation;
  const load: Child<typeof loadHandlers> = await Child.start('http-load');
  try {
    await populate(settings, population, tell);
    forgetReadModel(dataDir);
    const rebuilt = await started(settings);
    await rebuilt.service.stop('SIGTERM');
    const { service, readyMs } = await started(settings);
    const port = Number(new URL(service.url).port);
    const tokens = await tokensOf(service.url, someOf(population.accounts, TOKENS));
    const times = async (requests: Parameters<(typeof loadHandlers)['load']>[0]['requests']) => {
      const loaded = { port, connections: CONNECTIONS, warmUpSeconds: WARM_UP_SECONDS, seconds: SECONDS, requests };
      return percentile((await load.ask('load', loaded)).times, 99);
    };
    const getP99 = await times({ kind: 'get', path: '/api/webhooks', tokens });
    const postP99 = await times({ kind: 'post', tokens, origin: installation.origins[0] ?? '' });
    const resident = residentMiB(service.pid);
    await service.stop('SIGTERM');
    return {
      rebuildSeconds: rebuilt.startingMs / 1_000,
      startSeconds: readyMs / 1_000,
      residentMiB: resident,
      getP99,
      postP99,
    };
  } finally {
    await load.stop();
    await installation.close();
    remove(dataDir);
  }
}
