/** The examples of docs/api.md. test/http/api-document.test.ts sends them, and holds the answers against /openapi.json. */

/**
 * By operationId, of those where it teaches: a request that succeeds on a new service, as a line of a shell that has SERVICE, TOKEN,
 * PUBLISHER_TOKEN, CLIENT_ID and CLIENT_SECRET, and what is answered. docs/tour.md goes through the others.
 * @type {Record<string, { curl: string, answer?: object }>}
 */
export const EXAMPLES = {
  registerWebhook: {
    curl: `curl -s "$SERVICE/api/webhooks" -H "Authorization: Bearer $TOKEN" \\
  -H 'Idempotency-Key: 5f0c6d7e' -H 'Content-Type: application/json' \\
  -d '{"url":"https://shop.example.com/payments","eventType":"cash_in","headers":[{"key":"X-Api-Key","value":"k-123"}]}'`,
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
  startRecovery: {
    curl: `curl -s "$SERVICE/api/webhooks/1/recover" -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\
  -d '{"since":"2026-11-21T09:00:00Z","include":["exhausted","held"],"perSecond":50}'`,
  },
  publishPaymentEvents: {
    curl: `curl -s "$SERVICE/api/payment-events" -H "Authorization: Bearer $PUBLISHER_TOKEN" -H 'Content-Type: application/json' \\
  -d '{"id":"pay-1","type":"cash_in","accountId":42,"data":{"amount":"10.00"}}'`,
  },
  issueToken: {
    curl: 'curl -s "$SERVICE/oauth/token" -u "$CLIENT_ID:$CLIENT_SECRET" -d grant_type=client_credentials',
  },
};

/** What a URL that begins with http:// is answered. */
export const ERROR = {
  success: false,
  message: 'url must begin with https:// and a host.',
  code: 'invalid-fields',
  errors: [{ field: 'url', message: 'url must begin with https:// and a host.', code: 'url-not-https' }],
};
