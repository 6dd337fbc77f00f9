/** The examples of docs/api.md. test/http/api-document.test.ts sends them, and holds the answers against /openapi.json. */

/**
 * By operationId, of those where it teaches: a request that succeeds on a new service, and what is answered. docs/tour.md goes through
 * the others.
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
    answer: {
      success: true,
      message: 'webhook registered',
      webhook: {
        id: 1,
        type: 'cash_in',
        url: 'https://shop.example.com/payments',
        headers: { 'X-Api-Key': 'k-123' },
        isActive: true,
        createdAt: '2026-11-21T09:00:00.000Z',
      },
    },
  },
  updateWebhook: { json: { url: 'https://shop.example.com/instant-payments' } },
  listAccountDeliveries: { query: 'limit=1&eventId=pay-1&status=5xx' },
  startRecovery: { json: { since: '2026-11-21T09:00:00Z', include: ['exhausted', 'held'], perSecond: 50 } },
  startRecoveryOfSeveral: { json: { webhookIds: [1, 2], since: '2026-11-21T09:00:00Z' } },
  openSession: { json: { can: ['read', 'configure'], user: 'maria', lifetime: '30m', next: '/deliveries' } },
  listEvents: { query: 'after=start&limit=1' },
  publishPaymentEvents: { json: { id: 'pay-1', type: 'cash_in', accountId: 42, data: { amount: '10.00' } } },
  issueToken: { form: 'grant_type=client_credentials' },
};

/** What a URL that begins with http:// is answered. */
export const ERROR = {
  success: false,
  message: 'url must begin with https:// and a host.',
  code: 'invalid-fields',
  errors: [{ field: 'url', message: 'url must begin with https:// and a host.', code: 'url-not-https' }],
};

/** The request as a line of a shell that has SERVICE, TOKEN, PUBLISHER_TOKEN, CLIENT_ID and CLIENT_SECRET. */
export function curlOf(route, operation) {
  const [method, path] = route.split(' ');
  const { headers = {}, json, form, query } = EXAMPLES[operation.operationId];
  const target = path.replace('{id}', '1') + (query ? `?${query}` : '');
  const data = json ? `-d '${JSON.stringify(json)}'` : form && `-d ${form}`;
  const named = Object.entries({ ...headers, ...(json && { 'Content-Type': 'application/json' }) });
  const lines = [
    `curl -s "$SERVICE${target}"${method === (data ? 'POST' : 'GET') ? '' : ` -X ${method}`} ${authorization(operation.security)}`,
    named.map(([name, value]) => `-H '${name}: ${value}'`).join(' '),
    data,
  ];
  return lines.filter(Boolean).join(' \\\n  ');
}

function authorization(security) {
  if (isOfPublishers(security)) return '-H "Authorization: Bearer $PUBLISHER_TOKEN"';
  const isOfAccounts = security.some((scheme) => 'bearer' in scheme);
  return isOfAccounts ? '-H "Authorization: Bearer $TOKEN"' : '-u "$CLIENT_ID:$CLIENT_SECRET"';
}

/** Only publishers' tokens have a scope in the document. */
export function isOfPublishers(security) {
  return security.some(({ token: scopes }) => scopes?.length > 0);
}
