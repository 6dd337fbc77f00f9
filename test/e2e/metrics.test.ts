/** After a story that increments every counter, /metrics has each of docs/operations.md, with the values it should. */
import { METRICS } from '../../src/observability/metrics-table.js';
import { type Scrape, scrape } from '../support/clients/scrape.js';
import { eventually } from '../support/clocks/eventually.js';
import { describeBackbones } from '../support/scenes/backbones.js';
import { Served } from '../support/scenes/served.js';
import type { ReceivedRequest, Reply } from '../support/servers/receiver.js';

const OUTCOMES = 'account_webhooks_deliveries_total';
const ATTEMPTS = 'account_webhooks_attempt_duration_seconds_count';
const LATENCY = 'account_webhooks_event_to_delivery_seconds';

/** One more than the breaker tolerates. */
const FAILURES = 12;
const TYPES = {
  ok: 'cash_in',
  flaky: 'cash_out',
  down: 'refund_in',
  gone: 'med_created',
  broken: 'refund_out',
} as const;

describeBackbones((backbone) => {
  const before = (path: string) => served.receiver.requests.filter((request) => request.path === path).length;
  const served: Served = Served.around({
    respond: (request) => respond(request, before),
    backbone,
    settings: { RETRY_SCHEDULE: '200ms,400ms' },
    isProcess: true,
  });
  let begun: number;
  let registered: number;
  /** After the story. */
  let found: Scrape;

  beforeAll(async () => {
    begun = Date.now();
    registered = await tellStory(served);
    await untilTold(async () => {
      found = await scrape(served.service.adminUrl);
      const count = (outcome: string) => found.value(OUTCOMES, { outcome }) ?? 0;
      const deactivated = found.value('account_webhooks_dead_letters_total', { reason: 'deactivated' }) ?? 0;
      const deferred = found.value('account_webhooks_deferred_total', { reason: 'endpoint-failing' }) ?? 0;
      return { delivered: count('delivered'), exhausted: count('exhausted'), deactivated, deferred };
    });
    // On a busy machine deliveries of a failing URL are deferred before its breaker opens.
    await eventually(
      async () => {
        found = await scrape(served.service.adminUrl);
        const isOpen = found.value('account_webhooks_breakers_open') === 1;
        return isOpen && found.value('account_webhooks_projection_lag_seconds') === 0;
      },
      { message: 'the read model is behind, or the breaker is not open' },
    );
  });

  const expectBetween = (value: number | undefined, least: number, most: number) => {
    expect(value).toBeGreaterThanOrEqual(least);
    expect(value).toBeLessThanOrEqual(most);
  };

  test('what is exposed is what docs/operations.md has, each with values', () => {
    expect([...found.names].sort()).toEqual(Object.keys(METRICS).sort());
    const valued = (name: string) => found.value(name) ?? found.value(`${name}_count`);
    expect(found.names.filter((name) => valued(name) === undefined)).toEqual([]);
  });

  test('deliveries are counted by outcome and type, and so are dead letters and what was deferred', () => {
    const came = (outcome: string, type: string) => found.value(OUTCOMES, { outcome, event_type: type });
    expect(came('delivered', 'cash_in')).toBe(1);
    expect([came('retrying', 'cash_out'), came('delivered', 'cash_out')]).toEqual([1, 1]);
    expect([came('retrying', 'refund_in'), came('exhausted', 'refund_in')]).toEqual([2, 1]);
    expect(came('exhausted', 'med_created')).toBe(1);
    expect(found.value('account_webhooks_dead_letters_total', { reason: 'deactivated' })).toBe(1);
    expect(found.value('account_webhooks_dead_letters_total', { reason: 'not-valid' })).toBe(1);
    expect(found.value('account_webhooks_dead_letters_total', { reason: 'exhausted' })).toBeGreaterThanOrEqual(1);
    expect(found.value('account_webhooks_deferred_total', { reason: 'endpoint-failing' })).toBeGreaterThanOrEqual(1);
    expect(found.value('account_webhooks_consumption_paused')).toBe(0);
  });

  test('attempts are counted by result, and the time from event to delivery is measured', () => {
    expect([found.value(ATTEMPTS, { result: '2xx' }), found.value(ATTEMPTS, { result: '4xx' })]).toEqual([2, 1]);
    const failed = found.value(ATTEMPTS, { result: '5xx' }) ?? 0;
    // A breaker opens after 10 failures or, on a busy machine, 30 s of them.
    expect(failed).toBeGreaterThan(4);
    expectBetween(found.value('account_webhooks_connections_total'), 1, 3 + failed);
    expect(found.value(`${LATENCY}_count`, { path: 'direct' })).toBe(1);
    expect(found.value(`${LATENCY}_count`, { path: 'retried' })).toBe(1);
    const seconds = (Date.now() - begun) / 1000;
    expectBetween(found.value(`${LATENCY}_sum`, { path: 'direct' }), 0.001, seconds);
    expectBetween(found.value(`${LATENCY}_sum`, { path: 'retried' }), 0.2, seconds);
  });

  test('requests are counted by route and status, never by path', () => {
    const requests = (labels: Record<string, string>) => found.value('account_webhooks_http_requests_total', labels);
    expect(requests({ route: '/api/webhooks', method: 'POST', status: '200' })).toBe(registered);
    expect(requests({ route: '/api/webhooks', method: 'POST', status: '400' })).toBe(1);
    expect(requests({ route: '/api/webhooks/{id}', method: 'PATCH', status: '404' })).toBe(1);
    expect(requests({ route: 'unmatched', status: '404' })).toBe(1);
    expect(requests({ route: 'unmatched', status: '405' })).toBe(1);
    const duration = 'account_webhooks_http_request_duration_seconds';
    expect(found.value(`${duration}_count`, { route: '/api/webhooks', method: 'POST' })).toBe(registered + 1);
    expectBetween(found.value(`${duration}_sum`), 0.001, 60);
    expect(found.series.filter((series) => /999999|nothing/.test(series))).toEqual([]);
  });
});

/** The receiver's response to each URL of the scenario. */
function respond({ path }: ReceivedRequest, before: (path: string) => number): Reply {
  if (path === '/gone') return { status: 410 };
  if (path === '/down' || path === '/broken') return { status: 503 };
  return { status: path === '/flaky' && before(path) === 1 ? 500 : 200 };
}

/** @returns the number of registered or updated webhooks */
async function tellStory(served: Served): Promise<number> {
  let registered = 0;
  const send = async (expected: number, method: string, path: string, body?: object) => {
    const { status } = await served.ask(method, path, body);
    if (status !== expected) throw new Error(`${method} ${path} answered ${status}`);
  };
  const webhook = async (path: string, eventType: string) => {
    registered += 1;
    // A new value each time: a registration that changes nothing appends nothing.
    const headers = [{ key: 'X-Count', value: String(registered) }];
    await send(200, 'POST', '/api/webhooks', { url: `${served.receiver.url}/${path}`, eventType, headers });
  };
  for (const [path, eventType] of Object.entries(TYPES)) await webhook(path, eventType);
  await send(400, 'POST', '/api/webhooks', { url: 'http://plain.example', eventType: 'cash_in' });
  await send(404, 'PATCH', '/api/webhooks/999999', { isActive: true });
  await send(404, 'GET', '/nothing/here/42');
  await send(405, 'PUT', '/api/webhooks');
  await served.publish(['{"accountId":42}', ...payments()].join('\n'));
  return registered;
}

/** Fulfilled when all payments have their outcome, except deferred deliveries. */
function untilTold(outcomes: () => Promise<Record<string, number>>): Promise<unknown> {
  const told = async () => {
    const { delivered = 0, exhausted = 0, deactivated = 0, deferred = 0 } = await outcomes();
    return delivered >= 2 && exhausted >= 2 && deactivated >= 1 && deferred >= 1;
  };
  return eventually(told, { timeout: 20_000 });
}

function payments(): string[] {
  const once = Object.values(TYPES).map((type) => payment(type, 0));
  return [...once, ...Array.from({ length: FAILURES - 1 }, (_, n) => payment(TYPES.broken, n + 1))];
}

function payment(type: string, n: number): string {
  return JSON.stringify({ id: `evt-${type}-${n}`, type, accountId: 42, data: {} });
}
