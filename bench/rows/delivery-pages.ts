/**
 * A page of 50 deliveries by each filter, in a view of 10,000,000 within a week: half of them of one account with 100 webhooks,
 * the others of 1,000 accounts with three each. A payment has three. Each page begins at another time. Beside the pages: one
 * delivery by its id, pages of 50 events by some filters, and two hours of counters by minute.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { openDeliveriesView, VIEW_FILE } from '../../src/adapters/sqlite/view/deliveries-view.js';
import { webhookMessageId } from '../../src/payments/parsed-payment.js';
import type {
  DeliveriesQuery,
  EventsQuery,
  ViewCore,
  ViewEntry,
  ViewQueries,
  ViewRouting,
} from '../../src/ports/deliveries-view.js';
import { wholeQueries } from '../../test/support/scenes/whole-queries.js';
import { newFolder } from '../support/folders.js';
import { amount } from '../support/format.js';
import { eachRound } from '../support/rounds.js';
import type { Outcome, Row, Tell } from '../support/row.js';
import { DELIVERIES } from '../support/sizes.js';
import { percentile } from '../support/statistics.js';

const BEGIN = Date.UTC(2026, 10, 1);
const LARGE = 1;
const BATCH = 1_000;
const DAY_MS = 86_400_000;
/** Between two payments. */
const EVERY_MS = Math.max(1, Math.floor((7 * DAY_MS) / (DELIVERIES / 3)));
const END = BEGIN + (DELIVERIES / 3) * EVERY_MS;
const PAGES = 200;
/** As the service reads a day of minutes: two hours at a time. */
const PART_MS = DAY_MS / 12;

export const deliveryPages: Row = {
  name: 'delivery-pages',
  title: `A page of 50 deliveries by any filter, ${DELIVERIES.toLocaleString('en-US')} in the view: p99`,
  figure: { kind: 'below', value: 100, unit: 'ms' },
  async run(tell) {
    const folder = join(newFolder(), 'view');
    const view = openDeliveriesView(folder, () => undefined, Number.MAX_SAFE_INTEGER);
    try {
      const us = filled(view, tell);
      const bytes = statSync(join(folder, VIEW_FILE)).size / DELIVERIES;
      return await outcome(
        view,
        `${amount(us, 'us')} of CPU and ${Math.round(bytes)} bytes a delivery, with its third of a routing.`,
        tell,
      );
    } finally {
      view.close();
    }
  },
};

/** @returns CPU a delivery, us */
function filled(view: ViewCore, tell: Tell): number {
  let cpu = 0;
  let batch: (ViewEntry | ViewRouting)[] = [];
  for (let n = 0; n < DELIVERIES; n += 3) {
    batch.push(...entriesOf(n));
    if (batch.length < BATCH && n + 3 < DELIVERIES) continue;
    const before = process.cpuUsage();
    view.add(batch, new Map());
    const { user, system } = process.cpuUsage(before);
    cpu += user + system;
    batch = [];
    if (n % 999_999 < BATCH) tell(`${n.toLocaleString('en-US')} deliveries, ${(cpu / (n + 3)).toFixed(1)} us each`);
  }
  return cpu / DELIVERIES;
}

async function outcome(view: ViewCore, cost: string, tell: Tell): Promise<Outcome> {
  const asked = wholeQueries(view, { accountId: LARGE, webhookIds: null });
  const all = QUESTIONS.map(([name, ask]) => ({ name, ask, values: [] as number[] }));
  const turn = () =>
    Math.max(
      ...all.map(({ ask, values }) => {
        const ms = p99(() => ask(asked, Math.floor(Math.random() * DELIVERIES)));
        values.push(ms);
        return ms;
      }),
    );
  const worst = await eachRound(tell, turn, (ms) => amount(ms, 'ms'));
  const sides = all.map(({ name, values }) => ({ name, unit: 'ms' as const, values }));
  return { kind: 'measured', values: worst, sides, notes: [cost] };
}

function p99(work: () => void): number {
  const times = Array.from({ length: PAGES }, () => {
    const begin = performance.now();
    work();
    return performance.now() - begin;
  });
  return percentile(times, 99);
}

/** About the deliveries at the n-th one's time. */
type Ask = (asked: ViewQueries, n: number) => unknown;

const ANY = { limit: 50, eventType: null, eventId: null, status: null, errors: null, from: null, to: null } as const;
/** None has it. */
const errors = ['none'];

const pages = (only: (n: number) => Partial<DeliveriesQuery>): Ask => {
  const any = { ...ANY, webhookId: null, outcome: null, held: null };
  return (asked, n) => asked.page({ ...any, before: { firstAt: timeOf(n), payment: '', tie: '' }, ...only(n) });
};
const events = (only: (n: number) => Partial<EventsQuery>): Ask => {
  const any = { ...ANY, arrived: null, webhookIds: null, reference: null };
  return (asked, n) => asked.events({ ...any, before: { firstAt: timeOf(n), payment: '', tie: '' }, ...only(n) });
};
/** A delivery near the n-th one, of the large account. */
const ofLarge = (n: number) => 6 * Math.floor(n / 6);
const webhookId = (n: number) => 1 + (n % 100);

const QUESTIONS: readonly (readonly [name: string, ask: Ask])[] = [
  ['none', pages(() => ({}))],
  ['webhook', pages((n) => ({ webhookId: webhookId(n) }))],
  ['outcome', pages(() => ({ outcome: 'exhausted' }))],
  ['delivered', pages(() => ({ outcome: 'delivered' }))],
  ['type', pages(() => ({ eventType: 'med_created' }))],
  ['event', pages((n) => ({ before: null, eventId: eventOf(ofLarge(n)) }))],
  ['status', pages(() => ({ status: '5xx' }))],
  ['error', pages(() => ({ errors: ['timeout'] }))],
  ['no such error', pages(() => ({ errors }))],
  ['of one, no such', pages((n) => ({ errors, webhookId: webhookId(n) }))],
  ['all at once', pages((n) => ({ errors, webhookId: webhookId(n), outcome: 'exhausted', eventType: 'cash_in' }))],
  ['hour', pages((n) => ({ before: null, from: timeOf(n), to: timeOf(n) + 3_600_000 }))],
  ['one', (asked, n) => asked.publications(idOf(ofLarge(n)))],
  ['events', events(() => ({}))],
  ['not arrived', events(() => ({ arrived: 'part' }))],
  ['nothing', events(() => ({ arrived: 'part', errors }))],
  ['reference', events((n) => ({ before: null, reference: `E${eventOf(ofLarge(n))}` }))],
  ['one webhook', events(() => ({ webhookIds: [1] }))],
  [
    'stats',
    (asked, n) => {
      const from = Math.floor(Math.max(timeOf(n), END - DAY_MS) / 60_000) * 60_000;
      asked.stats({ from, to: from + PART_MS, step: '1m', webhookId: null, eventType: null });
    },
  ],
];

function timeOf(n: number): number {
  return BEGIN + Math.floor(n / 3) * EVERY_MS;
}

function eventOf(n: number): string {
  return `pay-${Math.floor(n / 3)}`;
}

/** Every other payment is of the large account, whose 33 payments in a row go to other webhooks. */
function webhookOf(n: number): { readonly accountId: number; readonly webhookId: number } {
  const payment = Math.floor(n / 3);
  const place = n % 3;
  if (payment % 2 === 0) return { accountId: LARGE, webhookId: 1 + ((payment / 2) % 33) * 3 + place };
  const accountId = 2 + (Math.floor(payment / 2) % 1_000);
  return { accountId, webhookId: 1_000 + accountId * 3 + place };
}

function idOf(n: number): string {
  const { accountId, webhookId } = webhookOf(n);
  return webhookMessageId(accountId, { eventId: eventOf(n), eventSource: null }, webhookId);
}

/** One of 33 groups of three webhooks gets the rare type. */
function typeOf(webhookId: number): string {
  const group = Math.floor((webhookId - 1) / 3);
  return group % 33 === 0 ? 'med_created' : group % 2 === 0 ? 'cash_in' : 'cash_out';
}

/** The routing of a payment and its three deliveries. */
function entriesOf(first: number): readonly (ViewEntry | ViewRouting)[] {
  const deliveries = [first, first + 1, first + 2].map(entryOf);
  const [{ accountId, eventId, eventType, firstAt, payment, place } = entryOf(first)] = deliveries;
  const webhooks = deliveries.map(({ webhookId }) => webhookId);
  const about = { accountId, eventId, eventType, firstAt, payment, place };
  const fields = { routed: 1, confirmed: 1, amount: '10.00', reference: `E${eventId}` };
  return [{ kind: 'routed', ...about, ...fields, webhooks, index: 0 }, ...deliveries];
}

function entryOf(n: number): ViewEntry {
  const { accountId, webhookId } = webhookOf(n);
  const [isFailed, isTimeout] = [n % 100 === 42, n % 1_000 === 42];
  const at = timeOf(n);
  const status = isTimeout ? null : isFailed ? 503 : 200;
  const error = isTimeout ? 'timeout' : null;
  return {
    kind: 'delivery',
    id: idOf(n),
    accountId,
    webhookId,
    firstAt: at,
    eventId: eventOf(n),
    eventType: typeOf(webhookId),
    outcome: isFailed ? 'exhausted' : 'delivered',
    chain: 0,
    attempts: 1,
    attempt: { at: new Date(at + 10).toISOString(), status, error, durationMs: 5 + (n % 97), version: 1 },
    nextAttemptAt: null,
    payment: `payment-events/0/${Math.floor(n / 3)}@${at}`,
    webhookEvent: `${'0'.repeat(24)}${webhookId.toString(16).padStart(12, '0')}`,
    place: { partition: 0, offset: Math.floor(n / 3), timestamp: at + 20 },
  };
}
