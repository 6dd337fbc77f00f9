/** An account with a thousand deliveries, each a payment of its own. */

const TYPES = ['cash_in', 'cash_out', 'cash_in', 'refund_in', 'med_created'] as const;
const URLS = [
  'https://hooks.loja-aurora.com.br/payments/inbound',
  'https://erp.example.com/v2/webhooks/pix?tenant=aurora',
  'https://finance.aurora.internal.example/ledger',
];
const SIZE = 1_000;
/** Between one payment and the next. */
const EVERY_MS = 4_300;
/** Fewer than are asked for, as the view does: each row is one more for axe. */
export const PAGE = 15;

type Recovery = Readonly<Record<string, unknown>> & { readonly include: readonly string[] };

export type MockAccount = ReturnType<typeof mockAccount>;

export function mockAccount() {
  const begun = Date.now();
  const deliveries = Array.from({ length: SIZE }, (_, index) => deliveryAt(index, begun));
  const account = {
    webhooks: WEBHOOKS,
    recovery: null as Recovery | null,
    isActivated: false,
    health: () => WEBHOOKS.map((webhook) => healthOf(webhook, begun, account.isActivated)),
    webhook: (id: number) => {
      const webhook = WEBHOOKS.find((one) => one.id === id);
      return webhook ? { webhook, deliveries: { waiting: 0, held: 0, exhausted: id === 102 ? 7 : 0 } } : null;
    },
    events(query: Record<string, string>) {
      const arrived = query.arrived === 'incomplete' ? 'nowhere' : query.arrived;
      const events = deliveries.map(eventOf).filter((event) => isAsked(event, { ...query, arrived }));
      const [begin, end] = [Number(query.before ?? 0), Number(query.before ?? 0) + PAGE];
      const next = end < events.length ? String(end) : null;
      return { events: events.slice(begin, end), next, more: next !== null, completeSince: null };
    },
    delivery(id: string) {
      const delivery = deliveries.find((one) => one.id === id);
      return delivery ? { delivery } : null;
    },
    /** The receiver is well by now. */
    resend(id: string) {
      const delivery = deliveries.find((one) => one.id === id);
      if (!delivery) return null;
      delivery.attempts.push({ ...attempt(Date.now(), 204), trigger: 'resend', actor: 'client/maria' });
      Object.assign(delivery, { outcome: 'delivered', nextAttemptAt: null, waitingFor: null });
      return { success: true, message: 'resending', count: 1 };
    },
    preview: (include: string) => ({
      count: include === 'missed' ? 0 : 1_204,
      oldest: new Date(begun - 7_980_000).toISOString(),
      newest: new Date(begun - 60_000).toISOString(),
    }),
    recover(order: { webhookIds: readonly number[]; since: string; include: string[]; perSecond: number }) {
      const [startedAt, count] = [new Date().toISOString(), 1_204 * order.include.length];
      const progress = { state: 'running', count, sent: 640, delivered: 631, failed: 9, passedBy: null };
      account.recovery = { id: 'rec-1', startedAt, until: startedAt, ...order, ...progress };
      return { success: true, message: 'started', id: 'rec-1', count };
    },
    stopRecovery: () => account.recovery && Object.assign(account.recovery, { state: 'stopped' }),
    stats: (from: string, to: string, step: string) => statsOf(from, to, step),
  };
  return account;
}

function deliveryAt(index: number, begun: number) {
  const firstAt = begun - 2_000 - index * EVERY_MS;
  const webhook = WEBHOOKS[index % WEBHOOKS.length] as (typeof WEBHOOKS)[number];
  const eventId = `pay_${(9_000_000 - index).toString(36)}x${index}`;
  const attempts = attemptsOf(index, firstAt);
  const last = attempts.at(-1);
  const isDelivered = last?.status === 204;
  const isOver = attempts.length >= 4;
  const isHeld = index % 37 === 5;
  const outcome = isHeld ? 'exhausted' : isDelivered ? 'delivered' : isOver ? 'exhausted' : 'retrying';
  return {
    id: `msg_${index}`,
    eventId,
    eventType: webhook.type,
    webhookId: webhook.id,
    outcome,
    held: isHeld,
    sentAgain: false,
    publishedAt: new Date(firstAt).toISOString(),
    nextAttemptAt: outcome === 'retrying' ? new Date(begun + 190_000 + index * 1_000).toISOString() : null,
    waitingFor: outcome === 'retrying' ? 'schedule' : null,
    attempts: isHeld ? [] : attempts,
    payload: `{"id":"${eventId}","data":{"amount":1250.10,"payer":{"name":"Padaria Sol","tags":["pix","qr"]},"note":null}}`,
    payloadUntil: new Date(firstAt + 604_800_000).toISOString(),
    endedBy: null,
    request: { contentType: 'application/json', headers: { 'X-Api-Key': 'v' } },
  };
}

function attemptsOf(index: number, firstAt: number) {
  if (index % 11 === 3) return [attempt(firstAt + 20, 503), attempt(firstAt + 5_400, 503, 'retry')];
  if (index % 17 === 6)
    return [0, 5_400, 306_000, 2_106_000].map((after, at) =>
      attempt(firstAt + 20 + after, 503, at ? 'retry' : 'event'),
    );
  if (index % 23 === 8)
    return [
      { ...attempt(firstAt + 20, null), error: 'timeout', reason: 'waiting-for-headers', durationMs: 15_000 },
      attempt(firstAt + 5_300, 204, 'retry'),
    ];
  return [attempt(firstAt + 12, 204)];
}

function attempt(at: number, status: number | null, trigger = 'event') {
  const response = status === 503 ? '{"error":"database is in maintenance","code":"E_MAINT"}' : null;
  const durationMs = 38 + (at % 90);
  return {
    at: new Date(at).toISOString(),
    status,
    error: null as string | null,
    reason: null as string | null,
    durationMs,
    version: trigger === 'resend' ? 3 : 2,
    url: URLS[0] as string,
    trigger,
    actor: null as string | null,
    response,
  };
}

/** Every ninth had no webhook. */
function eventOf(delivery: ReturnType<typeof deliveryAt>, index: number) {
  const { id, eventId, eventType, publishedAt, payload, webhookId, outcome, held } = delivery;
  const isForNobody = index % 9 === 4;
  return {
    cursor: id,
    eventId,
    eventType,
    publishedAt,
    payload,
    // More digits than a number keeps.
    amount: '9007199254740993.10',
    reference: `E1234567820261125${id}`,
    arrived: isForNobody ? 'nobody' : outcome === 'delivered' ? 'all' : 'nowhere',
    notSent: isForNobody ? 'no-webhook' : held ? 'held' : null,
    sentTo: isForNobody ? [] : [{ webhookId, deliveryId: id, outcome, held }],
  };
}

const isAsked = (event: ReturnType<typeof eventOf>, query: Record<string, string | undefined>) =>
  (['eventId', 'eventType', 'reference', 'arrived'] as const).every(
    (name) => !query[name] || query[name] === event[name],
  );

const WEBHOOKS = TYPES.map((type, index) => ({
  id: 101 + index,
  type,
  url: index === 4 ? 'https://old.loja-aurora.com.br/med' : (URLS[index % URLS.length] as string),
  headers: { 'X-Api-Key': 'k-123', Authorization: 'Bearer abc' },
  isActive: index !== 4,
  createdAt: '2026-10-01T12:00:00.000Z',
}));

function healthOf({ id, isActive }: (typeof WEBHOOKS)[number], begun: number, isActivated: boolean) {
  const ago = (ms: number) => new Date(begun - ms).toISOString();
  const well = {
    state: 'healthy',
    since: null,
    offBy: null,
    reason: null,
    deactivatesAt: null,
    lastSuccessAt: ago(4_000),
    lastFailure: null,
    waiting: 0,
    held: 0,
  };
  const failing = {
    state: 'failing',
    since: ago(7_980_000),
    deactivatesAt: new Date(begun + 420_000_000).toISOString(),
    lastSuccessAt: ago(7_990_000),
    lastFailure: { at: ago(30_000), status: 503, error: null },
    waiting: 13,
  };
  const off = {
    state: 'off',
    since: ago(86_400_000),
    offBy: 'service',
    reason: 'gone',
    lastSuccessAt: null,
    lastFailure: { at: ago(86_400_000), status: 410, error: null },
    held: 28,
  };
  const index = WEBHOOKS.findIndex((webhook) => webhook.id === id);
  return { webhookId: id, ...well, ...(index === 1 ? failing : isActive || isActivated ? {} : off) };
}

function statsOf(from: string, to: string, step: string) {
  const stepMs = { '1m': 60_000, '1h': 3_600_000 }[step] ?? 1;
  const times = [];
  for (let at = Date.parse(from); at < Date.parse(to); at += stepMs) times.push(new Date(at).toISOString());
  const figures = { delivered: 60, failedAttempts: 18, exhausted: 2, cancelled: 0, held: 3, p50Ms: 41, p95Ms: 620 };
  return { step, dataSince: from, buckets: times.map((at) => ({ at, ...figures })) };
}
