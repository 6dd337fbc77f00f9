/** What History says about each event, from the details that the API gives of it. */
import { changeDetail } from '../../src/console/format/change-detail.js';
import { subjectOf } from '../../src/console/history/subjects.js';
import { en } from '../../src/console/texts/en.js';
import { ptBr } from '../../src/console/texts/pt-br.js';
import { changesOf, detailsOf } from '../../src/webhooks/event-changes.js';
import type { AccountEvent } from '../../src/webhooks/events.js';

const URL = 'https://loja.com.br/pix';
const [SINCE, UNTIL] = ['2026-11-21T09:00:00.000Z', '2026-11-21T10:00:00.000Z'];
const HEADERS = [
  { key: 'X-Api-Key', sealed: '' },
  { key: 'X-Loja', sealed: '' },
];
const SESSION = { sessionId: 'ps_1', user: 'maria', can: ['read', 'resend'], until: UNTIL };

const ROWS: readonly (readonly [type: string, data: object, said: string])[] = [
  ['AccountRegistered', { accountId: 42 }, ''],
  ['CredentialIssued', { clientId: 'client' }, 'client'],
  ['CredentialRevoked', { clientId: 'client' }, 'client'],
  ['SigningSecretIssued', {}, ''],
  ['SigningSecretsRevoked', {}, ''],
  ['PortalSessionOpened', SESSION, 'for maria: read, resend'],
  ['PortalSessionOpened', { ...SESSION, user: null }, 'read, resend'],
  ['PortalSessionEntered', { sessionId: 'ps_1' }, 'ps_1'],
  ['PortalSessionEnded', { sessionId: 'ps_1' }, 'ps_1'],
  ['WebhookAdded', { eventType: 'cash_in', url: URL, version: 1, headers: HEADERS }, 'headers X-Api-Key, X-Loja'],
  ['WebhookUpdated', { eventType: 'cash_in', url: URL, version: 2, headers: [] }, ''],
  ['WebhookActivated', {}, ''],
  ['WebhookDeactivated', { reason: 'deactivated by the account' }, 'paused by the account'],
  ['WebhookDeactivated', { reason: 'the endpoint answered 410 Gone', by: 'service' }, 'the receiver answered 410 Gone'],
  ['WebhookDeactivated', { reason: 'failing', by: 'service', since: SINCE }, `nothing was accepted since <${SINCE}>`],
  ['WebhookRemoved', {}, ''],
  ['EndpointFailing', { endpoint: URL, since: SINCE }, `${URL} has accepted nothing since <${SINCE}>`],
  ['EndpointRecovered', { endpoint: URL }, URL],
  [
    'DeactivationAnnounced',
    { endpoint: URL, deactivatesAt: UNTIL },
    `${URL} is switched off on <${UNTIL}> unless it accepts a delivery`,
  ],
  ['NoticesSet', { url: URL, headers: HEADERS.slice(1) }, `${URL}, headers X-Loja`],
  ['NoticesRemoved', {}, ''],
  [
    'RecoveryStarted',
    { recoveryId: 'rec_1', webhookIds: [7, 8], count: 12, since: SINCE, until: UNTIL, perSecond: 20 },
    `Sends 12 deliveries, 20 per second. Published between <${SINCE}> and <${UNTIL}>.`,
  ],
  ['RecoveryEnded', { recoveryId: 'rec_1', state: 'stopped', passedBy: null }, 'Stopped'],
  ['IdempotencyKeyUsed', {}, ''],
];

const time = (iso: string) => `<${iso}>`;

it.each(ROWS)('says what a change of type %s is, with %j', (type, data, said) => {
  const event = { type, data } as AccountEvent;
  const change = {
    type,
    details: JSON.parse(JSON.stringify(detailsOf(event))),
    changes: changesOf(event, detailsOf(event)),
  };
  expect(changeDetail(change, en, time)).toBe(said);
});

it('knows each type of event by its name', () => {
  const types = [...new Set(ROWS.map(([type]) => type))].sort();
  expect(Object.keys(en.changes.types).sort()).toEqual(types);
});

it("is the API's text for a type that the page does not know, and in Portuguese for others", () => {
  const change = { type: 'AccountRenamed', details: {}, changes: 'account 42 is called Aurora' };
  expect(changeDetail(change, ptBr, time)).toBe('account 42 is called Aurora');
  const ended = { type: 'RecoveryEnded', details: { state: 'stopped' }, changes: '' };
  expect(changeDetail(ended, ptBr, time)).toBe('Parada');
});

it('names a webhook that was removed by the change that added it, and none of older changes', () => {
  const details = { after: { eventType: 'cash_in', url: URL, headers: [] } };
  const removed = { webhookId: 7, details: {} };
  expect(subjectOf(7, [], [removed, { webhookId: 7, details }])).toEqual({ type: 'cash_in', url: URL });
  expect(subjectOf(7, [], [removed, { webhookId: 8, details }])).toBeNull();
});
