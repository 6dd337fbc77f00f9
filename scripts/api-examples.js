/** The examples of docs/api.md. test/http/api-document.test.ts sends them, and holds the answers against /openapi.json. */

const DELIVERY_ID = 'msg_iLy7tuwrcVjLgePj64nomSZ0ZmZ';
const RECOVERY_ID = '3f6f1c52-7d0f-4a0e-9d0a-0c8b7e1f2a33';
const RECOVERY = {
  id: RECOVERY_ID,
  webhookIds: [1],
  state: 'running',
  startedAt: '2026-11-21T11:42:00.000Z',
  since: '2026-11-21T09:00:00.000Z',
  until: '2026-11-21T11:42:00.000Z',
  include: ['exhausted', 'held'],
  perSecond: 50,
  count: 1204,
  sent: 350,
  delivered: 341,
  failed: 2,
  passedBy: null,
};
const CREATED = '2026-11-21T09:00:00.000Z';
const WEBHOOK = {
  id: 1,
  type: 'cash_in',
  url: 'https://shop.example.com/payments',
  headers: { 'X-Api-Key': 'k-123' },
  isActive: true,
  createdAt: CREATED,
};

const CONSOLE_SESSION = {
  id: 'ps_4f1d0c2ab93e7715',
  account: 42,
  user: 'maria',
  can: ['read', 'configure'],
  expiresAt: '2026-11-21T09:30:00.000Z',
  next: '/deliveries',
  returnUrl: null,
};

const TESTED = {
  success: true,
  message: 'the endpoint answered 200',
  result: {
    id: 'msg_3f6f1c52-7d0f-4a0e-9d0a-0c8b7e1f2a33',
    status: 200,
    error: null,
    durationMs: 48,
    response: 'ok',
  },
};

/**
 * By operationId: a request that succeeds on a new service, and what is answered.
 * @type {Record<string, { headers?: object, json?: object, form?: string, query?: string, id?: string, answer: object }>}
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
  showWebhook: { answer: { webhook: WEBHOOK, deliveries: { waiting: 3, held: 0, exhausted: 1 } } },
  moveWebhooks: {
    json: { from: 'https://shop.example.com/payments', to: 'https://shop.example.com/webhooks' },
    answer: { success: true, message: '1 webhook moved', moved: 1 },
  },
  showWebhooksHealth: {
    answer: {
      webhooks: [
        {
          webhookId: 1,
          state: 'failing',
          failedShare: 1,
          since: '2026-11-21T09:05:00.120Z',
          offBy: null,
          reason: null,
          deactivatesAt: '2026-11-26T09:05:00.120Z',
          lastSuccessAt: '2026-11-21T09:04:11.020Z',
          lastFailure: { at: '2026-11-21T09:05:05.320Z', status: 503, error: null },
          waiting: 3,
          held: 0,
        },
      ],
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
  showStats: {
    query: 'step=1h&eventType=cash_in',
    answer: {
      step: '1h',
      dataSince: '2026-11-21T09:00:00.000Z',
      buckets: [
        {
          at: '2026-11-21T09:00:00.000Z',
          delivered: 1204,
          failedAttempts: 3,
          exhausted: 0,
          cancelled: 0,
          held: 0,
          p50Ms: 38.5,
          p95Ms: 120,
        },
      ],
    },
  },
  listEventTypes: {
    answer: {
      eventTypes: [
        {
          type: 'cash_in',
          description: 'The account received an instant payment.',
          schema: { type: 'object', required: ['amount'], properties: { amount: { type: 'string' } } },
          example: { amount: '10.00' },
        },
      ],
    },
  },
  updateWebhook: {
    json: { url: 'https://shop.example.com/instant-payments' },
    answer: { success: true, message: 'webhook updated' },
  },
  removeWebhook: { answer: { success: true, message: 'webhook removed', cancelled: 3 } },
  showNotices: { answer: { url: 'https://alerts.example.com/webhooks', headers: { 'X-Api-Key': 'k-456' } } },
  setNotices: {
    json: { url: 'https://alerts.example.com/webhooks', headers: [{ key: 'X-Api-Key', value: 'k-456' }] },
    answer: { success: true, message: 'notices go to the URL' },
  },
  removeNotices: { answer: { success: true, message: 'no notices are sent' } },
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
          waitingFor: 'schedule',
          held: false,
          endedBy: null,
        },
      ],
      next: 'MTc5NTI1MjcwMDEyMC5tc2dfaUx5N3R1d3JjVmpMZ2VQajY0bm9tU1owWm1a',
      completeSince: null,
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
        waitingFor: 'schedule',
        held: false,
        webhookId: 1,
        eventType: 'cash_in',
        publishedAt: '2026-11-21T09:05:00.120Z',
        sentAgain: false,
        routedAt: '2026-11-21T09:05:00.131Z',
        payload: '{"id":"pay-1","type":"cash_in","accountId":42,"data":{"amount":"10.00"}}',
        payloadUntil: '2026-12-22T09:05:00.120Z',
        endedBy: null,
        request: { contentType: 'application/json', headers: { 'X-Api-Key': 'k-123' } },
      },
    },
  },
  testWebhook: { answer: TESTED },
  testNotices: { answer: TESTED },
  resendDelivery: { id: DELIVERY_ID, answer: { success: true, message: 'the delivery is sent again', count: 1 } },
  cancelDelivery: { id: DELIVERY_ID, answer: { success: true, message: 'the delivery is cancelled', count: 1 } },
  previewRecovery: {
    query: 'since=2026-11-21T09:00:00Z&include=exhausted,held',
    answer: { count: 1204, oldest: '2026-11-21T09:05:00.000Z', newest: '2026-11-21T11:40:12.310Z' },
  },
  startRecovery: {
    json: { since: '2026-11-21T09:00:00Z', include: ['exhausted', 'held'], perSecond: 50 },
    answer: { success: true, message: '1204 deliveries are sent again', id: RECOVERY_ID, count: 1204 },
  },
  startRecoveryOfSeveral: {
    json: { webhookIds: [1, 2], since: '2026-11-21T09:00:00Z' },
    answer: { success: true, message: '2310 deliveries are sent again', id: RECOVERY_ID, count: 2310 },
  },
  listRecoveries: { answer: { recoveries: [RECOVERY] } },
  showRecovery: {
    id: RECOVERY_ID,
    answer: RECOVERY,
  },
  stopRecovery: {
    id: RECOVERY_ID,
    answer: { ...RECOVERY, state: 'stopped', delivered: 348 },
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
  listSigningSecrets: {
    answer: {
      secrets: [
        { issuedAt: '2026-11-01T09:00:00.000Z', endsAt: '2026-11-22T09:00:00.000Z' },
        { issuedAt: CREATED, endsAt: null },
      ],
    },
  },
  listCredentials: { answer: { credentials: [{ clientId: 'acct_42_590ca10f7d399523', issuedAt: CREATED }] } },
  showClientCertificate: {
    answer: {
      certificate: {
        subject: 'O=Example Payments\nCN=webhooks.example.com',
        issuer: 'CN=Example CA',
        fingerprint: `C9:1F${':04:7E'.repeat(15)}`,
        validFrom: '2026-06-01T00:00:00.000Z',
        validTo: '2027-06-01T00:00:00.000Z',
        pem: '-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----\n',
      },
    },
  },
  rotateSigningSecret: {
    answer: { secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=', endsAt: '2026-11-22T09:00:00.000Z' },
  },
  openSession: {
    json: { can: ['read', 'configure'], user: 'maria', lifetime: '30m', next: '/deliveries' },
    answer: {
      id: 'ps_5f0c6d7e9a1b2c3d',
      url: 'http://127.0.0.1:8080/console#code=42.ps_5f0c6d7e9a1b2c3d.q6Bz0v9mO3yqvCj1Wc0n3mC6o7Zt5wQb2uHk8sXeJrA',
      expiresAt: '2026-11-21T09:30:00.000Z',
    },
  },
  listSessions: {
    answer: {
      sessions: [
        {
          id: 'ps_5f0c6d7e9a1b2c3d',
          user: 'maria',
          can: ['read', 'configure'],
          openedAt: CREATED,
          expiresAt: '2026-11-21T09:30:00.000Z',
        },
      ],
    },
  },
  endSession: { id: '$SESSION_ID', answer: { success: true, message: 'session ended' } },
  enterSession: { json: { code: '$CODE' }, answer: CONSOLE_SESSION },
  showSession: { answer: CONSOLE_SESSION },
  leaveSession: { answer: { success: true, message: 'session ended' } },
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
  code: 'invalid-fields',
  errors: [{ field: 'url', message: 'url must begin with https:// and a host.', code: 'url-not-https' }],
};

/**
 * The request as a line of a shell that has SERVICE, TOKEN, PUBLISHER_TOKEN, CLIENT_ID and CLIENT_SECRET; SESSION_ID and
 * CODE of a session, and the COOKIE of an entered one.
 */
export function curlOf(method, path, operation) {
  const { headers = {}, json, form, query, id = '1' } = EXAMPLES[operation.operationId];
  const target = path.replace('{id}', id) + (query ? `?${query}` : '');
  const plain = json || form ? 'POST' : 'GET';
  const words = [
    `curl -s "$SERVICE${target}"`,
    ...(method.toUpperCase() === plain ? [] : [`-X ${method.toUpperCase()}`]),
    ...authorization(operation.security),
    ...Object.entries(headers).map(([name, value]) => `-H '${name}: ${value}'`),
    ...(form ? [`-d ${form}`] : []),
    ...(json
      ? [`-H 'Content-Type: application/json'`, `-d '${JSON.stringify(json).replace(/\$[A-Z]+/g, `'"$&"'`)}'`]
      : []),
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
  if (security.some((scheme) => 'session' in scheme)) return ['-b "$COOKIE"', '-H "X-Console: $SESSION_ID"'];
  return security.some((scheme) => 'client' in scheme) ? ['-u "$CLIENT_ID:$CLIENT_SECRET"'] : [];
}

/** Only publishers' tokens have a scope in the document. */
export function isOfPublishers(security) {
  return security.some(({ token: scopes }) => scopes?.length > 0);
}
