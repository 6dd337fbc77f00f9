/**
 * One account with a tenth of the deliveries in the view, a third of which failed, asks for pages by each filter, and has counted
 * what a recovery would send, one question after the other. Another account asks for a page of 50 alongside, each 20 ms.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { openDeliveriesView as openCore } from '../../src/adapters/sqlite/view/deliveries-view.js';
import { openDeliveriesView } from '../../src/composition/api.js';
import type {
  AccountView,
  DeliveriesQuery,
  DeliveriesView,
  EventsQuery,
  ViewEntry,
  ViewRouting,
} from '../../src/ports/deliveries-view.js';
import { recordingLogger } from '../../test/support/scenes/recording-logger.js';
import { newFolder } from '../support/folders.js';
import { amount } from '../support/format.js';
import { eachRound } from '../support/rounds.js';
import type { Outcome, Row, Side, Tell } from '../support/row.js';
import { DELIVERIES, SECONDS } from '../support/sizes.js';
import { percentile } from '../support/statistics.js';

const BEGIN = Date.UTC(2026, 10, 1);
const WEEK_MS = 7 * 86_400_000;
const EVERY_MS = Math.max(1, Math.floor(WEEK_MS / DELIVERIES));
const END = BEGIN + DELIVERIES * EVERY_MS;
const [LARGE, SMALL, ACCOUNTS, SHARE] = [1, 2, 1_000, 10];
const BATCH = 1_000;
const ASK_EVERY_MS = 20;
const SIZE = Number.MAX_SAFE_INTEGER;

export const largeAccount: Row = {
  name: 'large-account',
  title: `An account with a tenth of ${DELIVERIES.toLocaleString('en-US')} deliveries, by any filter, and another's page alongside: p99`,
  figure: { kind: 'below', value: 100, unit: 'ms' },
  run,
};

async function run(tell: Tell): Promise<Outcome> {
  const folder = newFolder();
  fill(folder, tell);
  const parts = { webhookIds: () => null, took: () => undefined };
  const view = await openDeliveriesView({ DATA_DIR: folder, DELIVERIES_VIEW_SIZE: SIZE }, recordingLogger(), parts);
  try {
    const all = QUESTIONS.map(([name, ask, isPage]) => ({
      name,
      ask,
      isPage,
      own: [] as number[],
      others: [] as number[],
    }));
    // What the machine itself adds: compare it with the others before concluding.
    const alone: number[] = [];
    const turn = async () => {
      for (const { ask, own, others } of all) {
        const seen = await alongside(view, ask);
        own.push(percentile(seen.own, 99));
        others.push(percentile(seen.others, 99));
      }
      alone.push(percentile((await alongside(view, () => delay(ASK_EVERY_MS))).others, 99));
      return Math.max(
        ...all.flatMap(({ isPage, own, others }) => [others.at(-1) ?? 0, isPage ? (own.at(-1) ?? 0) : 0]),
      );
    };
    const values = await eachRound(tell, turn, (ms) => amount(ms, 'ms'));
    const sides = all.flatMap(({ name, own, others }): Side[] => [
      { name, unit: 'ms', values: own },
      { name: `another's page alongside ${name}`, unit: 'ms', values: others },
    ]);
    return {
      kind: 'measured',
      values,
      sides: [{ name: "another's page alone", unit: 'ms', values: alone }, ...sides],
      notes: ['Counts are exact and in slices, so only the page alongside is in the figure.'],
    };
  } finally {
    await view.close();
  }
}

type Ask = (view: AccountView) => Promise<unknown>;

async function alongside(
  view: DeliveriesView,
  ask: Ask,
): Promise<{ readonly own: number[]; readonly others: number[] }> {
  const [own, others]: [number[], number[]] = [[], []];
  const end = performance.now() + (SECONDS * 1_000) / QUESTIONS.length;
  const asking = async () => {
    do own.push(await timed(() => ask(view.of(LARGE))));
    while (performance.now() < end);
  };
  const reading = async () => {
    do {
      others.push(await timed(() => view.of(SMALL).events({ ...ANY_EVENT, before: null })));
      await delay(ASK_EVERY_MS);
    } while (performance.now() < end);
  };
  await Promise.all([asking(), reading()]);
  return { own, others };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

const ANY = { limit: 50, eventType: null, eventId: null, status: null, errors: null, from: null, to: null } as const;
const ANY_EVENT = { ...ANY, arrived: null, webhookIds: null, reference: null } as const;
const ANY_DELIVERY = { ...ANY, webhookId: null, outcome: null, held: null } as const;
const anywhere = () => ({ firstAt: BEGIN + Math.floor(Math.random() * (END - BEGIN)), payment: '', tie: '' });

const events =
  (only: Partial<EventsQuery>): Ask =>
  (view) =>
    view.events({ ...ANY_EVENT, before: anywhere(), ...only });
const page =
  (only: Partial<DeliveriesQuery>): Ask =>
  (view) =>
    view.page({ ...ANY_DELIVERY, before: anywhere(), ...only });
const PERIOD = { since: BEGIN, until: END };
const paymentOf = () => SHARE * Math.floor((Math.random() * DELIVERIES) / SHARE);

const QUESTIONS: readonly (readonly [name: string, ask: Ask, isPage: boolean])[] = [
  ['events', events({}), true],
  ['events incomplete', events({ arrived: 'incomplete' }), true],
  ['events 5xx', events({ status: '5xx' }), true],
  ['events timeout', events({ errors: ['timeout'] }), true],
  ['events with no such error', events({ errors: ['none'] }), true],
  ['events of another type', events({ eventType: 'cash_out' }), true],
  ['event', (view) => view.events({ ...ANY_EVENT, before: null, eventId: `pay-${paymentOf()}` }), true],
  ['reference', (view) => view.events({ ...ANY_EVENT, before: null, reference: `E${paymentOf()}` }), true],
  ['deliveries', page({}), true],
  ['deliveries timeout', page({ errors: ['timeout'] }), true],
  ['deliveries of a webhook exhausted', page({ webhookId: 1, outcome: 'exhausted' }), true],
  ['delivery', (view) => view.publications(`msg_${paymentOf()}`), true],
  ['feed', (view) => view.feed({ ...ANY_EVENT, after: new Map(), eventType: 'cash_out' }), true],
  ['health', (view) => view.health(), true],
  ['stats', (view) => view.stats({ from: END - WEEK_MS, to: END, step: '1h', webhookId: null, eventType: null }), true],
  [
    'count of exhausted',
    (view) => view.recoverableCount({ ...PERIOD, webhookIds: [1], include: ['exhausted'] }),
    false,
  ],
  [
    'count of missed',
    (view) => view.missedCount({ ...PERIOD, webhooks: [{ id: 9, eventType: 'cash_in' }] }, {}),
    false,
  ],
];

function fill(folder: string, tell: Tell): void {
  const core = openCore(folder, () => undefined, SIZE);
  for (let n = 0; n < DELIVERIES; n += BATCH) {
    core.add(
      Array.from({ length: BATCH }, (_, index) => entriesOf(n + index)).flat(),
      new Map([['deliveries', new Map([[0, { offset: n + BATCH, before: null }]])]]),
    );
    if (n % 1_000_000 === 0) tell(`${n.toLocaleString('en-US')} deliveries`);
  }
  core.close();
}

/** The n-th payment, of one delivery. */
function entriesOf(n: number): readonly [ViewRouting, ViewEntry] {
  const accountId = n % SHARE === 0 ? LARGE : SMALL + (n % (ACCOUNTS - 1));
  const at = BEGIN + n * EVERY_MS;
  const place = { partition: 0, offset: n, timestamp: at };
  const of = {
    accountId,
    eventId: `pay-${n}`,
    eventType: 'cash_in',
    firstAt: at,
    payment: `payment-events/0/${n}@${at}`,
    place,
  };
  const isFailed = n % 3 === 0;
  const status = isFailed ? (n % 2 === 0 ? 503 : null) : 200;
  const attempt = {
    at: new Date(at).toISOString(),
    status,
    error: status === null ? 'timeout' : null,
    durationMs: 9,
    version: 1,
  };
  const outcome = isFailed ? 'exhausted' : 'delivered';
  return [
    { kind: 'routed', ...of, routed: 1, confirmed: 1, webhooks: [1], amount: '10.00', reference: `E${n}`, index: 0 },
    {
      kind: 'delivery',
      ...of,
      id: `msg_${n}`,
      webhookId: 1,
      webhookEvent: 'added',
      outcome,
      chain: 0,
      attempts: 1,
      attempt,
      nextAttemptAt: null,
    },
  ];
}
