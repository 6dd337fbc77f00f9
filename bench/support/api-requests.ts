/** Requests to the API as bytes, for the load of processes/http-load.ts. */

/**
 * get: the same again and again. post: each registers another URL, or gives one of those other headers. switch: each switches
 * one of the webhooks off, or on again.
 */
export type Requests =
  | { readonly kind: 'get'; readonly path: string; readonly tokens: readonly string[] }
  | {
      readonly kind: 'post';
      readonly tokens: readonly string[];
      readonly origin: string;
      /** Each with an Idempotency-Key of its own. */
      readonly keyed?: boolean;
    }
  | { readonly kind: 'switch'; readonly tokens: readonly string[]; readonly ids: readonly number[] };

/**
 * So many webhooks an account gets before they are given new headers: two of each of these types, within the limit of 3.
 * Payments are of none of them.
 */
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
        requests.keyed ? [`idempotency-key: request-${n}`] : [],
      );
    case 'switch': {
      const turn = Math.floor(n / requests.ids.length);
      const id = requests.ids[n % requests.ids.length];
      return bytes(`PATCH /api/webhooks/${id}`, token, JSON.stringify({ isActive: turn % 2 === 0 }));
    }
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

function bytes(line: string, token: string, body = '', more: readonly string[] = []): Buffer {
  const headers = [`${line} HTTP/1.1`, 'host: localhost', `authorization: Bearer ${token}`, ...more];
  if (body) headers.push('content-type: application/json', `content-length: ${Buffer.byteLength(body)}`);
  return Buffer.from(`${headers.join('\r\n')}\r\n\r\n${body}`);
}
