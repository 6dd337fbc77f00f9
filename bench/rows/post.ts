/** POST /api/webhooks, 32 at once, durable. Each is a real append: another URL, or other headers. */
import type { Loaded, handlers as loadHandlers } from '../processes/http-load.js';
import { Child } from '../support/child.js';
import { amount } from '../support/format.js';
import { openInstallation, startService } from '../support/installation.js';
import { populate } from '../support/population.js';
import { eachRound } from '../support/rounds.js';
import type { Outcome, Row, Tell } from '../support/row.js';
import { SECONDS, WARM_UP_SECONDS } from '../support/sizes.js';
import { percentile } from '../support/statistics.js';
import { tokensOf } from '../support/tokens.js';

const CONNECTIONS = 32;
/** Two webhooks of three types each before they are updated: that many requests are new ones. */
const ACCOUNTS = Number(process.env.BENCH_POST_ACCOUNTS || 8_000);

export const post: Row = {
  name: 'post',
  title: 'POST /api/webhooks, 32 at once, embedded and durable',
  figure: { kind: 'at least', value: 2_000, unit: 'a second' },
  run,
};

async function run(tell: Tell): Promise<Outcome> {
  const installation = await openInstallation();
  await populate(installation.settings, { accounts: ACCOUNTS, urls: () => [] }, tell);
  const service = await startService(installation.settings);
  const load: Child<typeof loadHandlers> = await Child.start('http-load');
  try {
    tell(`${ACCOUNTS} tokens`);
    const tokens = await tokensOf(service.url, ACCOUNTS);
    const window = (round: number): Promise<Loaded> =>
      load.ask('load', {
        port: Number(new URL(service.url).port),
        connections: CONNECTIONS,
        warmUpSeconds: round === 1 ? WARM_UP_SECONDS : 0,
        seconds: SECONDS,
        requests: { kind: 'post', tokens, origin: installation.origins[0] ?? '' },
      });
    const windows = await eachRound(tell, window, ({ perSecond }) => amount(perSecond, 'a second'));
    const times = (percent: number) => windows.map((window) => percentile(window.times, percent));
    return {
      kind: 'measured',
      values: windows.map(({ perSecond }) => perSecond),
      sides: [
        { name: 'p50', unit: 'ms', values: times(50) },
        { name: 'p99', unit: 'ms', values: times(99) },
      ],
      notes: [],
    };
  } finally {
    await Promise.all([load.stop(), service.stop('SIGTERM')]);
    await installation.close();
  }
}
