/** What the mock API answers to the screens History and Security. */
import { type MockAccount, PAGE } from './mock-account.js';
import { RIGHTS } from './served.js';

const DAY_MS = 86_400_000;
const begun = Date.now();
const ago = (ms: number) => new Date(begun - ms).toISOString();

const REMOVED_URL = 'https://old.aurora.example/pix';

const configuration = (eventType: string, url: string, ...headers: string[]) => ({ eventType, url, headers });
const PIX = 'https://erp.example.com/v2/webhooks/pix';
const LATER = configuration('cash_out', PIX, 'X-Api-Key');
const EARLIER = configuration('cash_out', PIX, 'X-Old');

type Row = readonly [type: string, before: number, webhookId: number | null, details: object];

const OPENED = { sessionId: 'ps_1', user: 'maria', can: ['read'], until: ago(3 * DAY_MS) };

const ROWS: readonly Row[] = [
  ['WebhookUpdated', 25_000, 102, { before: EARLIER, after: LATER, headersChanged: true }],
  ['WebhookActivated', DAY_MS, 101, {}],
  ['WebhookAdded', 2 * DAY_MS, 104, { before: null, after: configuration('refund_in', PIX) }],
  ['WebhookRemoved', 3 * DAY_MS, 99, {}],
  ['RecoveryEnded', 3.1 * DAY_MS, 102, { recoveryId: 'rec-1', state: 'done' }],
  ['WebhookUpdated', 3.2 * DAY_MS, 102, { after: EARLIER }],
  ['WebhookAdded', 3.3 * DAY_MS, 99, { before: null, after: configuration('cash_in', REMOVED_URL) }],
  ...Array.from({ length: 20 }, (_, index): Row => ['PortalSessionOpened', (4 + index / 24) * DAY_MS, null, OPENED]),
  ['AccountRegistered', 30 * DAY_MS, null, {}],
];

const CHANGES = ROWS.map(([type, before, webhookId, details]) => {
  return { at: ago(before), actor: 'acct_42_590ca10f7d399523/maria', type, webhookId, details, changes: type };
});

/** @param at now, without one */
export function webhooksAt({ webhooks }: MockAccount, at: unknown) {
  const isBefore = Date.parse(String(at)) < begun - 3 * DAY_MS;
  return webhooks.map((webhook, index) =>
    isBefore && index === 0 ? { ...webhook, id: 99, url: REMOVED_URL } : webhook,
  );
}

export function historyBefore(before = '0') {
  const end = Number(before) + PAGE;
  return { events: CHANGES.slice(Number(before), end), next: end < CHANGES.length ? String(end) : null };
}

const CERTIFICATE = {
  subject: 'O=Example Payments\nCN=webhooks.example.com',
  issuer: 'CN=Example CA',
  fingerprint: `C9:1F${':04:7E'.repeat(15)}`,
  validFrom: ago(90 * DAY_MS),
  validTo: ago(-275 * DAY_MS),
  pem: '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n',
};

const WHO = { id: 'ps_mine', account: 42, user: 'maria', can: RIGHTS };
export const SESSION = { ...WHO, expiresAt: ago(-3_600_000), next: null, returnUrl: null };
const OTHER = { id: 'ps_1', user: 'joao', can: ['read'], openedAt: ago(600_000), expiresAt: ago(-3_000_000) };

export const SECURITY = {
  notices: { url: 'https://ops.aurora.example/notices', headers: {} },
  'signing-secrets': { secrets: [{ issuedAt: ago(30 * DAY_MS), endsAt: null }] },
  'portal-sessions': { sessions: [{ ...SESSION, openedAt: ago(60_000) }, OTHER] },
  credentials: { credentials: [{ clientId: 'acct_42_590ca10f7d399523', issuedAt: ago(30 * DAY_MS) }] },
  'client-certificate': { certificate: CERTIFICATE },
};
