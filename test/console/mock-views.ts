/** What the mock API answers to the screens Events, History and Security. */
import type Router from '@koa/router';
import { type MockAccount, PAGE } from './mock-account.js';

interface Mocked {
  readonly size: number;
  readonly session: { readonly id: string; readonly user: string; readonly expiresAt: string };
}

const DAY_MS = 86_400_000;
const begun = Date.now();
const ago = (ms: number) => new Date(begun - ms).toISOString();

const REMOVED_URL = 'https://old.aurora.example/pix';

export function viewRoutes(router: Router, account: MockAccount, { size, session }: Mocked): void {
  router.get('/api/events', (ctx) => {
    ctx.body = eventsOf(account, ctx.query as Record<string, string>);
  });
  const changes = size === 0 ? [REGISTERED] : [...latestChanges(), ...signIns(size), REGISTERED];
  router.get('/api/history', (ctx) => {
    const end = ctx.query.before === undefined ? changes.length : Number(ctx.query.before);
    const begin = Math.max(0, end - Math.min(PAGE, Number(ctx.query.limit)));
    const oldestFirst = changes.toReversed();
    ctx.body = { events: oldestFirst.slice(begin, end).reverse(), next: begin === 0 ? null : String(begin) };
  });
  router.get('/api/webhooks', (ctx, next) => {
    if (!ctx.query.at) return next();
    ctx.body = { webhooks: webhooksAt(account, String(ctx.query.at)) };
    return undefined;
  });
  securityRoutes(router, session, size);
}

/** Every ninth had no webhook. */
function eventsOf(account: MockAccount, { arrived, ...query }: Record<string, string>) {
  const { deliveries, next } = account.page(query);
  const all = deliveries.map(({ id, eventId, eventType, publishedAt, webhookId, outcome, held }, index) => ({
    cursor: id,
    eventId,
    eventType,
    publishedAt,
    payload: account.delivery(id)?.delivery.payload ?? null,
    sentTo:
      index % 9 === 4 ? [] : [{ webhookId, deliveryId: id, outcome, held: outcome === 'exhausted' && index % 9 === 5 }],
    ...{
      amount: '1250.10',
      reference: `E1234567820261125${id}`,
      arrived: index % 9 === 4 ? 'nobody' : outcome === 'delivered' ? 'all' : 'nowhere',
    },
    notSent: index % 9 === 4 ? 'no-webhook' : held ? 'held' : null,
  }));
  const events = arrived
    ? all.filter((event) => event.arrived === (arrived === 'incomplete' ? 'nowhere' : arrived))
    : all;
  return { events, next, more: next !== null, completeSince: null };
}

const REGISTERED = {
  at: ago(30 * DAY_MS),
  actor: 'operator',
  type: 'AccountRegistered',
  webhookId: null,
  details: {},
  changes: 'account 42 registered',
};

const configuration = (eventType: string, url: string, ...headers: string[]) => ({ eventType, url, headers });
const PIX = 'https://erp.example.com/v2/webhooks/pix';
const LATER = configuration('cash_out', PIX, 'X-Api-Key');
const EARLIER = configuration('cash_out', PIX, 'X-Old');

const latestChanges = () =>
  (
    [
      ['WebhookUpdated', 25_000, 102, { before: EARLIER, after: LATER, headersChanged: true }],
      ['WebhookActivated', DAY_MS, 101, {}],
      ['WebhookAdded', 2 * DAY_MS, 104, { before: null, after: configuration('refund_in', PIX) }],
      ['WebhookRemoved', 3 * DAY_MS, 99, {}],
      ['RecoveryEnded', 3.1 * DAY_MS, 102, { recoveryId: 'rec-1', state: 'done' }],
      ['WebhookUpdated', 3.2 * DAY_MS, 102, { after: EARLIER }],
      ['WebhookAdded', 3.3 * DAY_MS, 99, { before: null, after: configuration('cash_in', REMOVED_URL) }],
    ] as const
  ).map(([type, before, webhookId, details]) => ({
    at: new Date(Date.now() - before).toISOString(),
    actor: 'acct_42_590ca10f7d399523/maria',
    type,
    webhookId,
    details,
    changes: type,
  }));

const signIns = (size: number) =>
  Array.from({ length: Math.min(60, size) }, (_, index) => ({
    at: ago(4 * DAY_MS + index * 3_600_000),
    actor: 'client/console',
    type: 'PortalSessionOpened',
    webhookId: null,
    details: { sessionId: `ps_${index}`, user: 'maria', can: ['read'], until: ago(3 * DAY_MS) },
    changes: `session ps_${index} opened for maria: read until ${ago(3 * DAY_MS)}`,
  }));

function webhooksAt({ webhooks }: MockAccount, at: string) {
  const isBefore = Date.parse(at) < begun - 3 * DAY_MS;
  return webhooks.map((webhook, index) =>
    isBefore && index === 0 ? { ...webhook, id: 99, url: REMOVED_URL } : webhook,
  );
}

const CERTIFICATE = {
  subject: 'O=Example Payments\nCN=webhooks.example.com',
  issuer: 'CN=Example CA',
  fingerprint: `C9:1F${':04:7E'.repeat(15)}`,
  validFrom: ago(90 * DAY_MS),
  validTo: ago(-275 * DAY_MS),
  pem: '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n',
};

function securityRoutes(router: Router, session: Mocked['session'], size: number): void {
  const other = { can: ['read'], openedAt: ago(600_000), expiresAt: ago(-3_000_000) };
  const sessions = [
    { ...session, can: ['read', 'payloads', 'secrets'], openedAt: ago(60_000) },
    ...Array.from({ length: Math.min(size, 3) }, (_, index) => ({
      id: `ps_${index}`,
      user: `joao-${index}`,
      ...other,
    })),
  ];
  const answers = {
    notices: { url: size > 0 ? 'https://ops.aurora.example/notices' : null, headers: {} },
    'signing-secrets': { secrets: [{ issuedAt: ago(30 * DAY_MS), endsAt: null }] },
    'portal-sessions': { sessions },
    credentials: { credentials: [{ clientId: 'acct_42_590ca10f7d399523', issuedAt: ago(30 * DAY_MS) }] },
    'client-certificate': { certificate: size > 0 ? CERTIFICATE : null },
  };
  for (const [name, answer] of Object.entries(answers))
    router.get(`/api/${name}`, (ctx) => {
      ctx.body = answer;
    });
}
