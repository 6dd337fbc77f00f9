/** Along accounts, and along the length of the history: starts, memory, and how the API answers. */
import { eventsOf, type Population } from '../support/population.js';
import type { Tell } from '../support/row.js';
import type { Grown } from './grown.js';
import { decades } from './sizes.js';
import { type StoreSizeCost, storeSizeCost } from './store-size-cost.js';

const MOST_ACCOUNTS = 100_000;
const MOST_EVENTS = 10_000_000;
/** Of the longer and longer history. */
const ACCOUNTS = 1_000;
const EVENTS_BEFORE_UPDATES = 6;

const urls = (accountId: number) =>
  ['one', 'two', 'three'].map((name) => `https://hooks.example.com/${accountId}/${name}`);

interface Axis {
  readonly name: string;
  /** Of the x axis, and of the first column. */
  readonly label: string;
  readonly sizes: readonly number[];
  readonly population: (size: number) => Population;
}

const ALONG_ACCOUNTS: Axis = {
  name: 'accounts',
  label: 'accounts (three webhooks each)',
  sizes: decades(10, MOST_ACCOUNTS),
  population: (accounts) => ({ accounts, urls }),
};

const ALONG_HISTORY: Axis = {
  name: 'history',
  label: 'events in the store (of 1,000 accounts)',
  sizes: decades(10_000, MOST_EVENTS),
  population: (events) => ({ accounts: ACCOUNTS, urls, updates: events / ACCOUNTS - EVENTS_BEFORE_UPDATES }),
};

export const storeSize = [ALONG_ACCOUNTS, ALONG_HISTORY].map((axis) => ({
  name: axis.name,
  run: (tell: Tell) => along(axis, tell),
}));

async function along({ name, label, sizes, population }: Axis, tell: Tell): Promise<Grown> {
  const costs: (StoreSizeCost & { size: number })[] = [];
  for (const size of sizes) {
    const cost = await storeSizeCost(population(size), tell);
    costs.push({ size, ...cost });
    tell(`${size} (${eventsOf(population(size))} events): ${JSON.stringify(cost)}`);
  }
  const line = (of: string, value: (cost: StoreSizeCost) => number) => ({
    name: of,
    points: costs.map((cost) => [cost.size, value(cost)] as const),
  });
  const x = { label, log: true };
  return {
    head: [label, 'rebuild, s', 'start, s', 'resident, MiB', 'GET p99, ms', 'POST p99, ms'],
    rows: costs.map((cost) => [
      cost.size.toLocaleString('en-US'),
      ...[cost.rebuildSeconds, cost.startSeconds].map((value) => value.toFixed(2)),
      cost.residentMiB.toFixed(0),
      ...[cost.getP99, cost.postP99].map((value) => value.toFixed(1)),
    ]),
    plots: [
      {
        file: `${name}-start`,
        title: 'From the start to ready',
        x,
        y: { label: 'seconds', log: true },
        lines: [line('rebuilt', (cost) => cost.rebuildSeconds), line('read model there', (cost) => cost.startSeconds)],
      },
      {
        file: `${name}-memory`,
        title: 'Resident memory, after GETs and POSTs',
        x,
        y: { label: 'MiB', log: false },
        lines: [line('the service', (cost) => cost.residentMiB)],
      },
      {
        file: `${name}-api`,
        title: 'p99 of the API, 4 requests at once',
        x,
        y: { label: 'ms', log: true },
        lines: [line('GET', (cost) => cost.getP99), line('POST', (cost) => cost.postP99)],
      },
    ],
  };
}
