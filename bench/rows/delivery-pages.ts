/**
 * A page of 50 deliveries by each filter, in a view of 10,000,000: half of them of one account with 100 webhooks, the others of
 * 1,000 accounts with three each. Each page begins at another time.
 */
import { join } from 'node:path';
import { openDeliveriesView } from '../../src/adapters/sqlite/deliveries-view.js';
import type { DeliveriesQuery, DeliveriesView, ViewEntry } from '../../src/ports/deliveries-view.js';
import { newFolder } from '../support/folders.js';
import { amount } from '../support/format.js';
import type { Outcome, Row, Tell } from '../support/row.js';
import { DELIVERIES, ROUNDS } from '../support/sizes.js';
import { percentile } from '../support/statistics.js';

const BEGIN = Date.UTC(2026, 10, 1);
const LARGE = 1;
const BATCH = 250;
const PAGES = 200;
const FILTERS = ['none', 'webhook', 'outcome', 'delivered', 'type', 'event', 'status', 'error', 'hour'] as const;
type Filter = (typeof FILTERS)[number];

export const deliveryPages: Row = {
  name: 'delivery-pages',
  title: `A page of 50 deliveries by any filter, ${DELIVERIES.toLocaleString('en-US')} in the view: p99`,
  figure: { kind: 'below', value: 100, unit: 'ms' },
  async run(tell) {
    const view = openDeliveriesView(join(newFolder(), 'view'), () => undefined);
    try {
      const us = filled(view, tell);
      return outcome(view, us, tell);
    } finally {
      view.close();
    }
  },
};

/** @returns CPU an entry, us */
function filled(view: DeliveriesView, tell: Tell): number {
  let cpu = 0;
  for (let n = 0; n < DELIVERIES; n += BATCH) {
    const entries = Array.from({ length: Math.min(BATCH, DELIVERIES - n) }, (_, index) => entryOf(n + index));
    const before = process.cpuUsage();
    view.add(entries);
    const { user, system } = process.cpuUsage(before);
    cpu += user + system;
    if ((n + BATCH) % 1_000_000 === 0) tell(`${(n + BATCH).toLocaleString('en-US')} entries`);
  }
  return cpu / DELIVERIES;
}

function outcome(view: DeliveriesView, us: number, tell: Tell): Outcome {
  const worst: number[] = [];
  const byFilter = new Map<Filter, number[]>(FILTERS.map((filter) => [filter, []]));
  for (let round = 1; round <= ROUNDS; round += 1) {
    for (const [filter, values] of byFilter) values.push(p99(view, filter));
    worst.push(Math.max(...[...byFilter.values()].map((values) => values.at(-1) ?? 0)));
    tell(`round ${round}: ${amount(worst.at(-1) ?? 0, 'ms')}`);
  }
  const sides = [...byFilter].map(([name, values]) => ({ name, unit: 'ms' as const, values }));
  return { kind: 'measured', values: worst, sides, notes: [`CPU an entry: ${amount(us, 'us')}.`] };
}

function p99(view: DeliveriesView, filter: Filter): number {
  const times = Array.from({ length: PAGES }, () => {
    const query = queryOf(filter);
    const begin = performance.now();
    view.page(query);
    return performance.now() - begin;
  });
  return percentile(times, 99);
}

function queryOf(filter: Filter): DeliveriesQuery {
  const n = Math.floor(Math.random() * DELIVERIES);
  const some = { before: { firstAt: BEGIN + n, id: '' }, from: null, to: null };
  const any = { webhookId: null, outcome: null, eventType: null, eventId: null, status: null, errors: null };
  const all = { accountId: LARGE, limit: 50, ...some, ...any };
  switch (filter) {
    case 'none':
      return all;
    case 'webhook':
      return { ...all, webhookId: 1 + (n % 100) };
    case 'outcome':
      return { ...all, outcome: 'exhausted' };
    case 'delivered':
      return { ...all, outcome: 'delivered' };
    case 'type':
      return { ...all, eventType: 'med_created' };
    case 'event':
      return { ...all, before: null, eventId: `pay-${n}` };
    case 'status':
      return { ...all, status: '5xx' };
    case 'error':
      return { ...all, errors: ['timeout'] };
    case 'hour':
      return { ...all, before: null, from: BEGIN + n, to: BEGIN + n + 3_600_000 };
    default:
      return filter satisfies never;
  }
}

function entryOf(n: number): ViewEntry {
  const isLarge = n % 2 === 0;
  const webhookId = isLarge ? 1 + ((n / 2) % 100) : 1_000 + (n % 3_000);
  const accountId = isLarge ? LARGE : 2 + Math.floor((n % 3_000) / 3);
  const [isFailed, isTimeout] = [n % 100 === 42, n % 1_000 === 42];
  const at = BEGIN + n;
  const status = isTimeout ? null : isFailed ? 503 : 200;
  return {
    kind: 'delivery',
    id: `msg_${n.toString(36).padStart(27, '0')}`,
    accountId,
    webhookId,
    eventId: `pay-${n}`,
    eventType: n % 5_000 === 8 ? 'med_created' : 'cash_in',
    firstAt: at,
    outcome: isFailed ? 'exhausted' : 'delivered',
    turn: 1,
    attempt: {
      at: new Date(at).toISOString(),
      status,
      error: isTimeout ? 'timeout' : null,
      durationMs: 12.34,
      version: 1,
    },
    nextAttemptAt: null,
    held: false,
    response: null,
    payment: `payment-events/0/${n}@${at}`,
    webhookEvent: 'added',
    step: null,
    recovery: null,
    place: { partition: 0, offset: n, timestamp: at },
  };
}
