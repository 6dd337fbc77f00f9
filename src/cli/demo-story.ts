/** What happens to the account of `demo --keep`: its webhooks, its payments, and how its receivers answer. */
import type { EventType } from '../webhooks/limits.js';

export const ACCOUNT = 42;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** The first is short, because one who watches should see retries; the last are, because a day should see some end. */
export const RETRY_SCHEDULE = '2s,10m,2h';
export const DEACTIVATE_AFTER = '8h';

/** Its certificate is not trusted. */
export const DISPUTES = '/disputes';

interface StoryWebhook {
  readonly eventType: EventType;
  readonly path: string;
  readonly hoursAgo: number;
}

export const WEBHOOKS: readonly StoryWebhook[] = [
  { eventType: 'cash_in', path: '/ledger', hoursAgo: 24 },
  { eventType: 'cash_in', path: '/fraud-check', hoursAgo: 24 },
  { eventType: 'cash_out', path: '/ledger', hoursAgo: 24 },
  { eventType: 'cash_out', path: '/sandbox', hoursAgo: 23.9 },
  { eventType: 'refund_in', path: '/crm', hoursAgo: 23.8 },
  { eventType: 'refund_in', path: '/reports', hoursAgo: 23.8 },
  { eventType: 'refund_out', path: '/ledger', hoursAgo: 23.7 },
  { eventType: 'refund_out', path: '/erp', hoursAgo: 23.7 },
  { eventType: 'med_accepted', path: '/notify', hoursAgo: 23.6 },
  { eventType: 'med_created', path: '/ledger', hoursAgo: 23.6 },
  { eventType: 'med_created', path: DISPUTES, hoursAgo: 3.5 },
];

/** Changes of the configuration, besides what the service does by itself. */
export const PAUSED = { path: '/sandbox', hoursAgo: 16 };
export const RECONFIGURED = { path: '/fraud-check', hoursAgo: 9 };
export const ROTATED = { hoursAgo: 6 };

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

export interface StoryPayment {
  readonly id: string;
  readonly type: EventType;
  readonly at: number;
}

/** Of the day before `until`, ms since the epoch; in order. */
export function paymentsOfADay(until: number): readonly StoryPayment[] {
  const times = Object.entries(PER_HOUR).flatMap(([type, perHour]) => timesOf(type as EventType, perHour, until));
  return times.sort((one, other) => one.at - other.at).map((payment, n) => ({ ...payment, id: paymentId(n) }));
}

export const paymentId = (n: number) => `pay-${1_000 + n}`;

function timesOf(type: EventType, perHour: number, until: number): Omit<StoryPayment, 'id'>[] {
  const times: Omit<StoryPayment, 'id'>[] = [];
  for (let at = until - DAY_MS; ; ) {
    const hour = new Date(at).getHours();
    const pace = hour >= 8 && hour < 20 ? perHour : perHour / 3;
    at += (HOUR_MS / pace) * (0.5 + Math.random());
    if (at >= until) return times;
    times.push({ type, at: Math.floor(at) });
  }
}

const NAMES = ['Ana Souza', 'Bruno Lima', 'Carla Dias', 'Davi Rocha', 'Elisa Melo', 'Padaria Aurora', 'Mercado Sul'];

export function publishedPayment({ id, type, at }: StoryPayment): Buffer {
  const n = Number(id.slice('pay-'.length));
  const timestamp = new Date(at).toISOString();
  const data = {
    amount: `${(n * 37) % 900}.${String((n * 13) % 100).padStart(2, '0')}`,
    name: NAMES[n % NAMES.length],
    endToEndId: `E12345678${timestamp.replace(/\D/g, '').slice(0, 12)}${String(n).padStart(11, '0')}`,
  };
  return Buffer.from(JSON.stringify({ id, type, accountId: ACCOUNT, timestamp, data }));
}

/** `code`: of the error that ends the connection. */
export type StoryAnswer = { readonly status: number; readonly body?: string } | { readonly code: string } | 'no-answer';

export interface Request {
  readonly path: string;
  readonly body: string;
  /** Before now; negative while the demo runs. */
  readonly hoursAgo: number;
  /** ms since the epoch */
  readonly at: number;
}

const OK = { status: 200 };
const LOCKED = { status: 500, body: '{"error":"database is locked","hint":"try again in ten seconds"}' };
const MOVED = { status: 404, body: '{"error":"not found","hint":"this webhook has moved to /v2/notify"}' };
const MAINTENANCE = { status: 503, body: 'maintenance: the reports are back at noon' };

/** The same in the day that has passed and while the demo runs. */
export function answerTo({ path, body, hoursAgo, at }: Request): StoryAnswer {
  const isBetween = (from: number, until: number) => hoursAgo < from && hoursAgo >= until;
  switch (path) {
    case '/fraud-check':
      return isUnlucky(body, at) ? LOCKED : OK;
    case '/erp':
      return isBetween(20, 11) ? { code: 'ECONNREFUSED' } : OK;
    case '/notify':
      return hoursAgo < 5 ? MOVED : OK;
    case '/crm':
      return hoursAgo < 2 ? 'no-answer' : OK;
    case '/reports':
      return isBetween(14, 9) ? MAINTENANCE : OK;
    case DISPUTES:
      return { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' };
    default:
      return OK;
  }
}

/** Every fourth payment, in its first seconds. */
function isUnlucky(body: string, at: number): boolean {
  const { id, timestamp } = JSON.parse(body) as { id: string; timestamp: string };
  return Number(id.slice('pay-'.length)) % 4 === 0 && at - Date.parse(timestamp) < 10_000;
}
