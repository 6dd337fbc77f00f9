/** Requests to the API as bytes, for the load of processes/http-load.ts. */
import { payment } from './payments.js';

/**
 * get: the same again and again. post: each registers another URL, or gives one of those other headers. switch: each switches
 * one of the webhooks off, or on again. publish: so many payment events as NDJSON, of an account without webhooks. resend: each
 * sends another delivery again. recover: each begins a recovery of another webhook.
 */
export type Requests =
  | { readonly kind: 'get'; readonly path: string; readonly tokens: readonly string[] }
  | {
      readonly kind: 'post';
      readonly tokens: readonly string[];
      readonly origin: string;
    }
  | { readonly kind: 'switch'; readonly tokens: readonly string[]; readonly ids: readonly number[] }
  | { readonly kind: 'resend'; readonly tokens: readonly string[]; readonly deliveries: readonly string[] }
  | { readonly kind: 'recover'; readonly tokens: readonly string[]; readonly ids: readonly number[] }
  | {
      readonly kind: 'publish';
      readonly tokens: readonly string[];
      readonly accountId: number;
      readonly events: number;
    };

/**
 * So many webhooks an account gets before they are given new headers: two of each of these types, within the limit of 3.
 * Payments are of none of them.
 */
const JSON_TYPE = 'application/json';
const TYPES = ['cash_out', 'refund_in', 'refund_out'];
const URLS_A_TYPE = 2;
const WEBHOOKS = TYPES.length * URLS_A_TYPE;

/** The n-th request. */
export function apiRequest(requests: Requests, n: number): Buffer {
  const token = requests.tokens[n % requests.tokens.length] ?? '';
  switch (requests.kind) {
    case 'get':
      return bytes(`GET ${requests.path}`, token);
    case 'post':
      return bytes(
        'POST /api/webhooks',
        token,
        registration(requests.origin, Math.floor(n / requests.tokens.length), n),
      );
    case 'switch': {
      const turn = Math.floor(n / requests.ids.length);
      const id = requests.ids[n % requests.ids.length];
      return bytes(`PATCH /api/webhooks/${id}`, token, JSON.stringify({ isActive: turn % 2 === 0 }));
    }
    case 'resend':
      return bytes(`POST /api/deliveries/${requests.deliveries[n % requests.deliveries.length]}/resend`, token);
    case 'recover': {
      const order = JSON.stringify({ since: '2020-01-01T00:00:00Z', perSecond: 100 });
      return bytes(`POST /api/webhooks/${requests.ids[n % requests.ids.length]}/recover`, token, order);
    }
    case 'publish':
      return bytes('POST /api/payment-events', token, eventsOf(requests, n), 'application/x-ndjson');
    default:
      return requests satisfies never;
  }
}

function registration(origin: string, turn: number, n: number): string {
  const which = turn % WEBHOOKS;
  const url = `${origin}/payments/${Math.floor(which / TYPES.length)}`;
  const headers = [{ key: 'X-Api-Key', value: `key-${n}` }];
  return JSON.stringify({ url, eventType: TYPES[which % TYPES.length], headers });
}

function eventsOf({ accountId, events }: { accountId: number; events: number }, n: number): string {
  return Array.from({ length: events }, (_, index) => payment(`http-${n}-${index}`, accountId)).join('\n');
}

function bytes(line: string, token: string, body = '', type = JSON_TYPE): Buffer {
  const headers = [`${line} HTTP/1.1`, 'host: localhost', `authorization: Bearer ${token}`];
  if (body) headers.push(`content-type: ${type}`, `content-length: ${Buffer.byteLength(body)}`);
  return Buffer.from(`${headers.join('\r\n')}\r\n\r\n${body}`);
}
