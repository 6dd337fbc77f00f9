/** What happens to the account of `demo --keep`: its webhooks, its payments, and how its receivers answer. */
import type { Decided } from '../../delivery/attempt/classification.js';
import { EVENT_TYPES, type EventType } from '../../webhooks/limits.js';

export const ACCOUNT = 42;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** The first delay is short, because one who watches should see retries; the last are, because a day should see some end. */
export const STORY_SETTINGS = { DELIVERY_TIMEOUT: '3s', RETRY_SCHEDULE: '2s,10m,2h', DEACTIVATE_AFTER: '8h' };

/** When each is registered, with a header of that hour. */
export const WEBHOOKS: readonly (readonly [hoursAgo: number, eventType: EventType, path: string])[] = [
  [24, 'cash_in', '/ledger'],
  [24, 'cash_in', '/fraud-check'],
  [24, 'cash_out', '/ledger'],
  [23.8, 'refund_in', '/crm'],
  [23.7, 'refund_out', '/ledger'],
  [23.7, 'refund_out', '/erp'],
  [23.6, 'med_accepted', '/notify'],
  [23.6, 'med_created', '/ledger'],
  // Other headers.
  [9, 'cash_in', '/fraud-check'],
];

const PER_HOUR: Readonly<Record<EventType, number>> = {
  cash_in: 16,
  cash_out: 10,
  refund_in: 3,
  refund_out: 5,
  med_created: 1,
  med_accepted: 1,
  med_rejected: 0.5,
};

/** Of the day before `until`, ms since the epoch. */
export function paymentsOfADay(until: number): readonly { readonly at: number; readonly type: EventType }[] {
  return EVENT_TYPES.flatMap((type) => {
    const count = 24 * PER_HOUR[type];
    const at = (n: number) => Math.floor(until - ((n + Math.random()) * DAY_MS) / count);
    return Array.from({ length: count }, (_, n) => ({ at: at(n), type }));
  });
}

/** The n-th payment. */
export function paymentOf(n: number, type: EventType, at: number): Buffer {
  const timestamp = new Date(at).toISOString();
  const data = {
    amount: `${(n * 37) % 900}.${String((n * 13) % 100).padStart(2, '0')}`,
    endToEndId: `E12345678${timestamp.replace(/\D/g, '').slice(0, 12)}${String(n).padStart(11, '0')}`,
  };
  return Buffer.from(JSON.stringify({ id: `pay-${1_000 + n}`, type, accountId: ACCOUNT, timestamp, data }));
}

const ended = (decided: Decided, body = '') => ({ decided, body });
type StoryAnswer = ReturnType<typeof ended>;
const response = (status: number, body = '') => ended({ kind: 'response', status, retryAfter: null }, body);
const OK = response(200);
const LOCKED = response(500, '{"error":"database is locked","hint":"try again in ten seconds"}');
const MOVED = response(404, '{"error":"not found","hint":"this webhook has moved to /v2/notify"}');
const NO_ANSWER = ended({ kind: 'cancelled', phase: 'waiting-for-headers', reason: 'timeout' });
const error = Object.assign(new Error(), { code: 'ECONNREFUSED' });
const REFUSED = ended({ kind: 'failed', phase: 'connecting', began: '', error });

/** By path. `ago`: hours, negative while the demo runs. */
const ANSWERS: Readonly<Record<string, (ago: number, at: number, body: string) => StoryAnswer>> = {
  '/fraud-check': (_, at, body) => (isUnlucky(body, at) ? LOCKED : OK),
  '/erp': (ago) => (ago < 20 && ago >= 11 ? REFUSED : OK),
  '/notify': (ago) => (ago < 5 ? MOVED : OK),
  '/crm': (ago) => (ago < 2 ? NO_ANSWER : OK),
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
