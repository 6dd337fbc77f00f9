import { Webhook } from 'standardwebhooks';
import { EVENT_TYPES } from '../../src/webhooks/limits.js';
import { describeBackbones } from '../support/backbones.js';
import { eventually } from '../support/eventually.js';
import type { ReceivedRequest } from '../support/receiver.js';
import { Served } from '../support/served.js';

const ACCOUNT = 42;
const URLS = ['one', 'two', 'three'] as const;
const SCHEDULE = '100ms,150ms,200ms';
/** Fails twice and then takes it; the other one never does. */
const FLAKY = '/refund_in/two';
const BROKEN = '/med_rejected/three';
/** 19 once, one three times, one four times. */
const REQUESTS = 26;
/** Seconds at most where the machine is idle; other tests may run beside. */
const PATIENCE_MS = 20_000;
const POISON = '{"type":"cash_in","accountId":42}';

interface Delivery {
  readonly id: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly webhookId: number;
  readonly outcome: string;
  readonly attempts: readonly { readonly status: number; readonly version: number }[];
  readonly nextAttemptAt: string | null;
}

describeBackbones((backbone) => {
  const respond = ({ path }: { path: string }) => ({ status: statusOf(path) });
  const served = Served.around({ respond, backbone, settings: { RETRY_SCHEDULE: SCHEDULE }, isProcess: true });
  /** Once every one of them has ended. */
  let deliveries: Delivery[];

  beforeAll(async () => {
    for (const path of paths()) expect(await served.addWebhook(path, typeOf(path), headersAt(path))).toBe(200);
    await served.publish([POISON, ...EVENT_TYPES.map(payment)].join('\n'));
    await eventually(() => served.receiver.requests.length >= REQUESTS, { timeout: PATIENCE_MS });
    const ended = async () => {
      const all = await served.lines<Delivery>('deliveries', 'list', '--account', String(ACCOUNT));
      return all.length === 21 && all.every(({ outcome }) => outcome !== 'retrying') && all;
    };
    deliveries = await eventually(ended, { timeout: PATIENCE_MS });
  }, 4 * PATIENCE_MS);

  const statusOf = (path: string) => {
    if (path === BROKEN) return 503;
    return path === FLAKY && requestsAt(path).length <= 2 ? 500 : 200;
  };
  const requestsAt = (path: string) => served.receiver.requests.filter((request) => request.path === path);
  test('each event reaches the three URLs of its type and no other, signed, with their own headers', () => {
    expect([...new Set(served.receiver.requests.map(({ path }) => path))].sort()).toEqual(paths().sort());
    for (const request of served.receiver.requests) {
      expect(request.body.toString()).toBe(payment(typeOf(request.path)));
      expect(ownHeaders(request)).toEqual(headersAt(request.path).map(({ key, value }) => [key, value]));
      const signed = request.headers as Record<string, string>;
      expect(() => new Webhook(served.account.signingSecret).verify(request.body.toString(), signed)).not.toThrow();
    }
  });

  test('one that fails twice is sent three times with one webhook-id, all others once, but for the broken one', () => {
    const counts = Object.fromEntries(paths().map((path) => [path, requestsAt(path).length]));
    const once = Object.fromEntries(paths().map((path) => [path, 1]));
    expect(counts).toEqual({ ...once, [FLAKY]: 3, [BROKEN]: 4 });
    const idsOf = (path: string) => new Set(requestsAt(path).map(({ headers }) => headers['webhook-id']));
    for (const path of paths()) expect(idsOf(path).size).toBe(1);
    expect(new Set(paths().flatMap((path) => [...idsOf(path)])).size).toBe(21);
  });

  test('deliveries list shows every delivery with its attempts, under the webhook-id that was sent', () => {
    const all = deliveries;
    const byOutcome = (outcome: string) => all.filter((delivery) => delivery.outcome === outcome).length;
    expect([byOutcome('delivered'), byOutcome('exhausted')]).toEqual([20, 1]);
    const statuses = new Map(all.map(({ id, attempts }) => [id, attempts.map(({ status }) => status)]));
    for (const path of paths()) {
      const id = String(requestsAt(path)[0]?.headers['webhook-id']);
      expect([path, statuses.get(id)]).toEqual([path, expectedStatuses(path)]);
    }
    for (const { eventType } of all) expect(all.filter((other) => other.eventType === eventType)).toHaveLength(3);
    expect(all.map(({ nextAttemptAt }) => nextAttemptAt)).toEqual(all.map(() => null));
  });

  test('dead-letters list shows the one that is exhausted and the one that is no payment event', async () => {
    const exhausted = deliveries.find(({ outcome }) => outcome === 'exhausted');
    // Nothing orders the latter and the deliveries.
    const both = async () => {
      const found = await served.lines<{ reason: string }>('dead-letters', 'list');
      return found.length === 2 && found;
    };
    const letters = await eventually(both, { timeout: PATIENCE_MS });
    letters.sort((one, other) => one.reason.localeCompare(other.reason));
    expect(letters).toMatchObject([
      {
        reason: 'exhausted',
        detail: 'status 503',
        accountId: ACCOUNT,
        eventId: 'evt-med_rejected',
        webhookId: exhausted?.webhookId,
        deliveryId: exhausted?.id,
        attempts: 4,
        value: payment('med_rejected'),
      },
      { reason: 'not-valid', detail: 'id is missing', value: POISON, key: String(ACCOUNT), attempts: null },
    ]);
  });
}, 'pairs');

function paths(): string[] {
  return EVENT_TYPES.flatMap((type) => URLS.map((name) => `/${type}/${name}`));
}

function typeOf(path: string): string {
  return path.split('/')[1] ?? '';
}

function payment(type: string): string {
  return `{"id":"evt-${type}", "type":"${type}","accountId":42,"data":{"amount":10.10}}`;
}

function headersAt(path: string): { key: string; value: string }[] {
  const [, type = '', name = ''] = path.split('/');
  return [
    { key: 'X-Type', value: type },
    { key: `X-Url-${name}`, value: `secret of ${path}` },
  ];
}

/** As they were on the wire. */
function ownHeaders({ rawHeaders }: ReceivedRequest): string[][] {
  const pairs = rawHeaders.flatMap((name, index) => (index % 2 ? [] : [[name, rawHeaders[index + 1] ?? '']]));
  return pairs.filter(([name]) => name?.startsWith('X-'));
}

function expectedStatuses(path: string): number[] {
  if (path === BROKEN) return [503, 503, 503, 503];
  return path === FLAKY ? [500, 500, 200] : [200];
}
