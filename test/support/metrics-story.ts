/**
 * A scenario that increments every counter: a success, a retry, a dead letter, a 410, a breaker that opens, a record
 * that is no payment event, a conflict, and refused requests.
 */
import { eventually } from './eventually.js';
import type { ReceivedRequest, Reply } from './receiver.js';
import { scrape } from './scrape.js';
import { run, type Service, type Settings } from './service.js';
import { register, tokenFor } from './story.js';

const ACCOUNT = 42;
/** One more than the breaker tolerates. */
const FAILURES = 12;
const TYPES = {
  ok: 'cash_in',
  flaky: 'cash_out',
  down: 'refund_in',
  gone: 'med_created',
  broken: 'refund_out',
} as const;
const PATIENCE = { timeout: 20_000 };

/** The receiver's response to each URL of the scenario. */
export function respond({ path }: ReceivedRequest, before: (path: string) => number): Reply {
  if (path === '/gone') return { status: 410 };
  if (path === '/down' || path === '/broken') return { status: 503 };
  return { status: path === '/flaky' && before(path) === 1 ? 500 : 200 };
}

/** @returns the number of registered or updated webhooks */
export async function tellStory(service: Service, settings: Settings, receiverUrl: string): Promise<number> {
  let registered = 0;
  const token = await tokenFor(service.url, await register(settings, ACCOUNT));
  const send = (method: string, path: string, body?: object) =>
    fetch(service.url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
  const webhook = async (path: string, eventType: string) => {
    registered += 1;
    // A new value each time: a registration that changes nothing appends nothing.
    const headers = [{ key: 'X-Count', value: String(registered) }];
    await expectStatus(200, send('POST', '/api/webhooks', { url: `${receiverUrl}/${path}`, eventType, headers }));
  };
  for (const [path, eventType] of Object.entries(TYPES)) await webhook(path, eventType);
  // Another process appends at the same time. A conflict is likely but not certain, hence the retry.
  const conflicts = async () => {
    let isIssued = false;
    const issued = run(settings, ['accounts', 'issue-credential', String(ACCOUNT)]).then(() => (isIssued = true));
    while (!isIssued) await webhook('a', 'med_accepted');
    await issued;
    return (await scrape(service.adminUrl)).value('account_webhooks_append_conflicts_total', { category: 'account' });
  };
  await eventually(conflicts, PATIENCE);
  await expectStatus(400, send('POST', '/api/webhooks', { url: 'http://plain.example', eventType: 'cash_in' }));
  await expectStatus(404, send('PATCH', '/api/webhooks/999999', { isActive: true }));
  await expectStatus(404, send('GET', '/nothing/here/42'));
  await expectStatus(405, send('PUT', '/api/webhooks'));
  await run(settings, ['events', 'publish'], ['{"accountId":42}', ...payments()].join('\n'));
  return registered;
}

/** Fulfilled when all payments have their outcome, except parked deliveries. */
export function untilTold(outcomes: () => Promise<Record<string, number>>): Promise<unknown> {
  const told = async () => {
    const { delivered = 0, exhausted = 0, deactivated = 0, parked = 0 } = await outcomes();
    return delivered >= 2 && exhausted >= 2 && deactivated >= 1 && parked >= 1;
  };
  return eventually(told, PATIENCE);
}

function payments(): string[] {
  const once = Object.values(TYPES).map((type) => payment(type, 0));
  return [...once, ...Array.from({ length: FAILURES - 1 }, (_, n) => payment(TYPES.broken, n + 1))];
}

function payment(type: string, n: number): string {
  return JSON.stringify({ id: `evt-${type}-${n}`, type, accountId: ACCOUNT, data: {} });
}

async function expectStatus(status: number, sent: Promise<Response>): Promise<void> {
  const response = await sent;
  const body = await response.text();
  if (response.status !== status) throw new Error(`${response.url} answered ${response.status}: ${body}`);
}
