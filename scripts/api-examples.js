/** The examples of docs/api.md. test/http/api-document.test.ts sends them, and holds the answers against /openapi.json. */

const CREATED = '2026-11-21T09:00:00.000Z';

/**
 * By operationId: a request that succeeds on a new service, and what is answered.
 * @type {Record<string, { headers?: object, json?: object, form?: string, query?: string, answer: object }>}
 */
export const EXAMPLES = {
  registerWebhook: {
    headers: { 'Idempotency-Key': '5f0c6d7e' },
    json: {
      url: 'https://shop.example.com/payments',
      eventType: 'cash_in',
      headers: [{ key: 'X-Api-Key', value: 'k-123' }],
    },
    answer: { success: true, message: 'webhook registered' },
  },
  listWebhooks: {
    answer: {
      accountId: 42,
      webhooks: [
        {
          id: 1,
          type: 'cash_in',
          url: 'https://shop.example.com/payments',
          headers: { 'X-Api-Key': 'k-123' },
          isActive: true,
          createdAt: CREATED,
        },
      ],
      total: 1,
    },
  },
  setWebhookActive: {
    json: { isActive: false },
    answer: { success: true, message: 'webhook deactivated' },
  },
  removeWebhook: { answer: { success: true, message: 'webhook removed' } },
  listDeliveries: {
    query: 'limit=1&outcome=retrying',
    answer: {
      deliveries: [
        {
          id: 'msg_iLy7tuwrcVjLgePj64nomSZ0ZmZ',
          eventId: 'pay-1',
          outcome: 'retrying',
          attempts: [{ at: '2026-11-21T09:05:00.120Z', status: 503, error: null, durationMs: 31, version: 1 }],
          nextAttemptAt: '2026-11-21T09:05:05.320Z',
        },
      ],
      next: 'MTc5NTI1MjcwMDEyMC5tc2dfaUx5N3R1d3JjVmpMZ2VQajY0bm9tU1owWm1a',
    },
  },
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
          webhookId: 1,
          eventType: 'cash_in',
          publishedAt: '2026-11-21T09:05:00.120Z',
        },
      ],
      next: 'MTc5NTI1MjcwMDEyMC5tc2dfaUx5N3R1d3JjVmpMZ2VQajY0bm9tU1owWm1a',
    },
  },
  showDelivery: {
    id: 'msg_iLy7tuwrcVjLgePj64nomSZ0ZmZ',
    answer: {
      delivery: {
        id: 'msg_iLy7tuwrcVjLgePj64nomSZ0ZmZ',
        eventId: 'pay-1',
        outcome: 'retrying',
        attempts: [
          {
            at: '2026-11-21T09:05:00.120Z',
            status: 503,
            error: null,
            durationMs: 31,
            version: 1,
            url: 'https://shop.example.com/webhooks',
            trigger: 'event',
            actor: null,
            response: 'try later',
          },
        ],
        nextAttemptAt: '2026-11-21T09:05:05.320Z',
        webhookId: 1,
        eventType: 'cash_in',
        publishedAt: '2026-11-21T09:05:00.120Z',
        routedAt: '2026-11-21T09:05:00.131Z',
        payload: '{"id":"pay-1","type":"cash_in","accountId":42,"data":{"amount":"10.00"}}',
        payloadUntil: '2026-12-22T09:05:00.120Z',
      },
    },
  },
  testWebhook: {
    answer: {
      success: true,
      message: 'the endpoint answered 200',
      result: { id: 'msg_3f6f1c52-7d0f-4a0e-9d0a-0c8b7e1f2a33', status: 200, error: null, durationMs: 48 },
    },
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
    },
  },
  showAuthorizationServer: {
    answer: {
      issuer: 'http://127.0.0.1:8080',
      token_endpoint: 'http://127.0.0.1:8080/oauth/token',
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
      grant_types_supported: ['client_credentials'],
      response_types_supported: [],
      scopes_supported: ['webhooks', 'payment-events:publish'],
    },
  },
  showAsyncApi: { answer: { asyncapi: '3.0.0', info: {}, channels: {}, operations: {}, components: {} } },
  showOpenApi: { answer: { openapi: '3.1.0', info: {}, paths: {} } },
};

/** What a URL that begins with http:// is answered. */
export const ERROR = {
  success: false,
  message: 'url must begin with https:// and a host.',
  errors: [{ field: 'url', message: 'url must begin with https:// and a host.' }],
};

/** The request as a line of a shell that has SERVICE, TOKEN, PUBLISHER_TOKEN, CLIENT_ID and CLIENT_SECRET. */
export function curlOf(method, path, operation) {
  const { headers = {}, json, form, query, id = '1' } = EXAMPLES[operation.operationId];
  const target = path.replace('{id}', id) + (query ? `?${query}` : '');
  const plain = json || form ? 'POST' : 'GET';
  return [
    `curl -s "$SERVICE${target}"`,
    ...(method.toUpperCase() === plain ? [] : [`-X ${method.toUpperCase()}`]),
    ...authorization(operation.security),
    ...Object.entries(headers).map(([name, value]) => `-H '${name}: ${value}'`),
    ...(form ? [`-d ${form}`] : []),
    ...(json ? [`-H 'Content-Type: application/json'`, `-d '${JSON.stringify(json)}'`] : []),
  ].join(' \\\n  ');
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
