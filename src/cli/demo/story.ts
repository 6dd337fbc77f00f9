/** What happens to the account of `demo --keep`: its webhooks, its payments, and how its receivers answer. */
import { EVENT_TYPES, type EventType } from '../../webhooks/limits.js';

export const ACCOUNT = 42;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** The first delay is short, because one who watches should see retries; the last are, because a day should see some end. */
export const STORY_SETTINGS = { DELIVERY_TIMEOUT: '3s', RETRY_SCHEDULE: '2s,10m,2h', DEACTIVATE_AFTER: '8h' };

/** Its certificate is not trusted. */
export const DISPUTES = '/disputes';

/** When each is registered, with a header of that hour. */
export const WEBHOOKS: readonly (readonly [hoursAgo: number, eventType: EventType, path: string])[] = [
  [24, 'cash_in', '/ledger'],
  [24, 'cash_in', '/fraud-check'],
  [24, 'cash_out', '/ledger'],
  [23.9, 'cash_out', '/sandbox'],
  [23.8, 'refund_in', '/crm'],
  [23.8, 'refund_in', '/reports'],
  [23.7, 'refund_out', '/ledger'],
  [23.7, 'refund_out', '/erp'],
  [23.6, 'med_accepted', '/notify'],
  [23.6, 'med_created', '/ledger'],
  // Other headers.
  [9, 'cash_in', '/fraud-check'],
  [3.5, 'med_created', DISPUTES],
];

export const PAUSED = { path: '/sandbox', hoursAgo: 16 };

/** In working hours; at night a third of it. */
const PER_HOUR: Readonly<Record<EventType, number>> = {
  cash_in: 24,
  cash_out: 15,
  refund_in: 5,
  refund_out: 8,
  med_created: 2,
  med_accepted: 2,
  med_rejected: 0.7,
};

/** Of the day before `until`, ms since the epoch. */
export function paymentsOfADay(until: number): readonly { readonly at: number; readonly type: EventType }[] {
  return EVENT_TYPES.flatMap((type) => timesOf(PER_HOUR[type], until).map((at) => ({ at, type })));
}

function timesOf(perHour: number, until: number): number[] {
  const times: number[] = [];
  for (let at = until - DAY_MS; at < until; times.push(Math.floor(at))) {
    const hour = new Date(at).getHours();
    at += (HOUR_MS / (hour >= 8 && hour < 20 ? perHour : perHour / 3)) * (0.5 + Math.random());
  }
  return times.slice(0, -1);
}

const NAMES = ['Ana Souza', 'Bruno Lima', 'Carla Dias', 'Davi Rocha', 'Elisa Melo', 'Padaria Aurora', 'Mercado Sul'];

/** The n-th payment. */
export function paymentOf(n: number, type: EventType, at: number): Buffer {
  const timestamp = new Date(at).toISOString();
  const data = {
    amount: `${(n * 37) % 900}.${String((n * 13) % 100).padStart(2, '0')}`,
    name: NAMES[n % NAMES.length],
    endToEndId: `E12345678${timestamp.replace(/\D/g, '').slice(0, 12)}${String(n).padStart(11, '0')}`,
  };
  return Buffer.from(JSON.stringify({ id: `pay-${1_000 + n}`, type, accountId: ACCOUNT, timestamp, data }));
}

/** `code`: of the error that ends the connection. */
type StoryAnswer = { readonly status: number; readonly body?: string } | { readonly code: string } | 'no-answer';

const OK = { status: 200 };
const LOCKED = { status: 500, body: '{"error":"database is locked","hint":"try again in ten seconds"}' };
const MOVED = { status: 404, body: '{"error":"not found","hint":"this webhook has moved to /v2/notify"}' };
const MAINTENANCE = { status: 503, body: 'maintenance: the reports are back at noon' };

/** By path. `ago`: hours, negative while the demo runs. */
const ANSWERS: Readonly<Record<string, (ago: number, at: number, body: string) => StoryAnswer>> = {
  '/fraud-check': (_, at, body) => (isUnlucky(body, at) ? LOCKED : OK),
  '/erp': (ago) => (ago < 20 && ago >= 11 ? { code: 'ECONNREFUSED' } : OK),
  '/notify': (ago) => (ago < 5 ? MOVED : OK),
  '/crm': (ago) => (ago < 2 ? 'no-answer' : OK),
  '/reports': (ago) => (ago < 14 && ago >= 9 ? MAINTENANCE : OK),
  [DISPUTES]: () => ({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }),
};

/** The same in the day that has passed and while the demo runs. @param until when it began to run @param at both ms since the epoch */
export function answerTo(path: string, body: string, until: number, at: number): StoryAnswer {
  return ANSWERS[path]?.((until - at) / HOUR_MS, at, body) ?? OK;
}

/** Every fourth payment, in its first seconds. */
function isUnlucky(body: string, at: number): boolean {
  const { id, timestamp } = JSON.parse(body) as { id: string; timestamp: string };
  return Number(id.slice('pay-'.length)) % 4 === 0 && at - Date.parse(timestamp) < 10_000;
}
