/** The examples of docs/api.md. test/http/api-document.test.ts sends them, and holds the answers against /openapi.json. */

const RECOVERY_ID = '3f6f1c52-7d0f-4a0e-9d0a-0c8b7e1f2a33';
const CREATED = '2026-11-21T09:00:00.000Z';
const WEBHOOK = {
  id: 1,
  type: 'cash_in',
  url: 'https://shop.example.com/payments',
  headers: { 'X-Api-Key': 'k-123' },
  isActive: true,
  createdAt: CREATED,
};

/**
 * By operationId, of those where it teaches: a request that succeeds on a new service, and what is answered.
 * @type {Record<string, { headers?: object, json?: object, form?: string, query?: string, answer?: object }>}
 */
export const EXAMPLES = {
  registerWebhook: {
    headers: { 'Idempotency-Key': '5f0c6d7e' },
    json: {
      url: 'https://shop.example.com/payments',
      eventType: 'cash_in',
      headers: [{ key: 'X-Api-Key', value: 'k-123' }],
    },
    answer: { success: true, message: 'webhook registered', webhook: WEBHOOK },
  },
  listWebhooks: {
    answer: {
      accountId: 42,
      webhooks: [WEBHOOK],
      total: 1,
    },
  },
  updateWebhook: { json: { url: 'https://shop.example.com/instant-payments' } },
  listAccountDeliveries: {
    query: 'limit=1&eventId=pay-1&status=5xx',
    answer: {
      deliveries: [
        {
          id: 'msg_iLy7tuwrcVjLgePj64nomSZ0ZmZ',
          eventId: 'pay-1',
          outcome: 'retrying',
          attempts: [{ at: '2026-11-21T09:05:00.120Z', status: 503, error: null, durationMs: 31, version: 1 }],
          nextAttemptAt: '2026-11-21T09:05:05.320Z',
          waitingFor: 'schedule',
          held: false,
          endedBy: null,
          webhookId: 1,
          eventType: 'cash_in',
          publishedAt: '2026-11-21T09:05:00.120Z',
        },
      ],
      next: 'MTc5NTI1MjcwMDEyMC5tc2dfaUx5N3R1d3JjVmpMZ2VQajY0bm9tU1owWm1a',
      completeSince: null,
    },
  },
  startRecovery: {
    json: { since: '2026-11-21T09:00:00Z', include: ['exhausted', 'held'], perSecond: 50 },
    answer: { success: true, message: '1204 deliveries are sent again', id: RECOVERY_ID, count: 1204 },
  },
  startRecoveryOfSeveral: { json: { webhookIds: [1, 2], since: '2026-11-21T09:00:00Z' } },
  openSession: {
    json: { can: ['read', 'configure'], user: 'maria', lifetime: '30m', next: '/deliveries' },
    answer: {
      id: 'ps_5f0c6d7e9a1b2c3d',
      url: 'http://127.0.0.1:8080/console#code=42.ps_5f0c6d7e9a1b2c3d.q6Bz0v9mO3yqvCj1Wc0n3mC6o7Zt5wQb2uHk8sXeJrA',
      expiresAt: '2026-11-21T09:30:00.000Z',
    },
  },
  listEvents: {
    query: 'after=start&limit=1',
    answer: {
      events: [
        {
          cursor: 'ZjA6Mi4w',
          eventId: 'pay-1',
          eventType: 'cash_in',
          publishedAt: '2026-11-21T09:05:00.101Z',
          payload: '{"id":"pay-1","type":"cash_in","accountId":42,"data":{"amount":"10.00"}}',
          amount: '10.00',
          reference: null,
          arrived: 'nowhere',
          sentTo: [{ webhookId: 1, deliveryId: 'msg_iLy7tuwrcVjLgePj64nomSZ0ZmZ', outcome: 'retrying', held: false }],
          notSent: null,
        },
      ],
      next: 'ZjA6Mi4w',
      more: true,
      completeSince: null,
    },
  },
  listHistory: {
    query: 'limit=1',
    answer: {
      events: [
        {
          at: CREATED,
          actor: 'acct_42_6c1d2f0a9b3e4d57/maria',
          type: 'WebhookAdded',
          webhookId: 1,
          details: {
            before: null,
            after: { eventType: 'cash_in', url: 'https://shop.example.com/payments', headers: ['X-Api-Key'] },
            headersChanged: true,
          },
          changes: 'added: cash_in https://shop.example.com/payments v1, headers X-Api-Key',
        },
      ],
      next: '3',
    },
  },
  rotateSigningSecret: {
    answer: { secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=', endsAt: '2026-11-22T09:00:00.000Z' },
  },
  publishPaymentEvents: {
    json: { id: 'pay-1', type: 'cash_in', accountId: 42, data: { amount: '10.00' } },
    answer: { success: true, message: '1 event was published', accepted: 1 },
  },
  issueToken: {
    form: 'grant_type=client_credentials',
    answer: {
      access_token: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI0MiJ9.c2lnbmF0dXJl',
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'webhooks',
    },
  },
};

/** What a URL that begins with http:// is answered. */
export const ERROR = {
  success: false,
  message: 'url must begin with https:// and a host.',
  code: 'invalid-fields',
  errors: [{ field: 'url', message: 'url must begin with https:// and a host.', code: 'url-not-https' }],
};

/** The request as a line of a shell that has SERVICE, TOKEN, PUBLISHER_TOKEN, CLIENT_ID and CLIENT_SECRET. */
export function curlOf(method, path, operation) {
  const { headers = {}, json, form, query } = EXAMPLES[operation.operationId];
  const target = path.replace('{id}', '1') + (query ? `?${query}` : '');
  const plain = json || form ? 'POST' : 'GET';
  const words = [
    `curl -s "$SERVICE${target}"`,
    ...(method.toUpperCase() === plain ? [] : [`-X ${method.toUpperCase()}`]),
    ...authorization(operation.security),
    ...Object.entries(headers).map(([name, value]) => `-H '${name}: ${value}'`),
    ...(form ? [`-d ${form}`] : []),
    ...(json ? [`-H 'Content-Type: application/json'`, `-d '${JSON.stringify(json)}'`] : []),
  ];
  return filled(words, ' ', LINE - 4).join(' \\\n  ');
}

export const LINE = 120;

/** @returns lines: several parts on one, as far as it is long enough */
export function filled(parts, between, length) {
  const lines = [];
  for (const part of parts) {
    const last = lines.at(-1);
    const fits =
      last !== undefined && !`${last}${part}`.includes('\n') && last.length + between.length + part.length <= length;
    if (fits) lines[lines.length - 1] = last + between + part;
    else lines.push(part);
  }
  return lines;
}

function authorization(security) {
  if (isOfPublishers(security)) return ['-H "Authorization: Bearer $PUBLISHER_TOKEN"'];
  if (security.some((scheme) => 'bearer' in scheme)) return ['-H "Authorization: Bearer $TOKEN"'];
  return security.some((scheme) => 'client' in scheme) ? ['-u "$CLIENT_ID:$CLIENT_SECRET"'] : [];
}

/** Only publishers' tokens have a scope in the document. */
export function isOfPublishers(security) {
  return security.some(({ token: scopes }) => scopes?.length > 0);
}
