/** POST /api/webhooks, 32 at once, durable. Each is a real append: another URL, or other headers. */
import { randomBytes } from 'node:crypto';
import { startEventStore } from '../../test/services/eventstoredb/event-store-server.js';
import type { Settings } from '../../test/support/service.js';
import type { handlers as loadHandlers } from '../processes/http-load.js';
import { Child } from '../support/child.js';
import { amount } from '../support/format.js';
import { openInstallation, startService } from '../support/installation.js';
import { populate } from '../support/population.js';
import type { Outcome, Row, Tell } from '../support/row.js';
import { ROUNDS, SECONDS, WARM_UP_SECONDS } from '../support/sizes.js';
import { percentile } from '../support/statistics.js';
import { someOf, tokensOf } from '../support/tokens.js';

const CONNECTIONS = 32;
/** Two webhooks of three types each before they are updated: that many requests are new ones. */
const ACCOUNTS = Number(process.env.BENCH_POST_ACCOUNTS || 8_000);

export const post: Row = {
  name: 'post',
  title: 'POST /api/webhooks, 32 at once, embedded and durable',
  figure: { kind: 'at least', value: 1_000, unit: 'a second' },
  run: (tell) => windowsOf(tell, [false]).then(plain),
};

export const postKeyed: Row = {
  name: 'post-keyed',
  title: 'POST with an Idempotency-Key of its own, against one without, embedded',
  // A plain one takes 0.4 ms here, of which the key's place in the read model's table and its index are a tenth.
  figure: { kind: 'at least', value: 0.8, unit: 'ratio' },
  run: (tell) => windowsOf(tell, [false, true]).then(keyedAgainstPlain),
};

export const postKeyedEventStoreDb: Row = {
  name: 'post-keyed-eventstoredb',
  title: 'the same on the EventStoreDB of the tests',
  figure: { kind: 'at least', value: 0.9, unit: 'ratio' },
  async run(tell) {
    const server = await startEventStore();
    const settings = { EVENT_STORE_URL: server.url, MASTER_KEY: randomBytes(32).toString('base64') };
    try {
      return keyedAgainstPlain(await windowsOf(tell, [false, true], settings));
    } finally {
      await server.stop();
    }
  },
};

interface Window {
  readonly keyed: boolean;
  readonly perSecond: number;
  readonly times: readonly number[];
}

/** By turns, in each round. */
async function windowsOf(tell: Tell, turns: readonly boolean[], settings: Settings = {}): Promise<readonly Window[]> {
  const installation = await openInstallation({ settings });
  // A thousand appends at once take a server longer than one may.
  await populate(installation.settings, { accounts: ACCOUNTS, urls: () => [], wave: 50 }, tell);
  const service = await startService(installation.settings);
  const load: Child<typeof loadHandlers> = await Child.start('http-load');
  try {
    tell(`${ACCOUNTS} tokens`);
    const tokens = await tokensOf(service.url, someOf(ACCOUNTS, ACCOUNTS));
    const windows: Window[] = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      for (const keyed of turns) {
        const window = await load.ask('load', {
          port: Number(new URL(service.url).port),
          connections: CONNECTIONS,
          warmUpSeconds: round === 1 ? WARM_UP_SECONDS : 0,
          seconds: SECONDS,
          requests: { kind: 'post', tokens, origin: installation.origins[0] ?? '', keyed },
        });
        windows.push({ keyed, ...window });
        tell(`round ${round}${keyed ? ', with keys' : ''}: ${amount(window.perSecond, 'a second')}`);
      }
    }
    return windows;
  } finally {
    await Promise.all([load.stop(), service.stop('SIGTERM')]);
    await installation.close();
  }
}

function plain(windows: readonly Window[]): Outcome {
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
}

function keyedAgainstPlain(windows: readonly Window[]): Outcome {
  const rates = (keyed: boolean) => windows.filter((one) => one.keyed === keyed).map(({ perSecond }) => perSecond);
  const [without, keyed] = [rates(false), rates(true)];
  return {
    kind: 'measured',
    values: keyed.map((rate, round) => rate / (without[round] ?? Number.NaN)),
    sides: [
      { name: 'with keys', unit: 'a second', values: keyed },
      { name: 'without', unit: 'a second', values: without },
    ],
    notes: ['32 at once, by turns.'],
  };
}
