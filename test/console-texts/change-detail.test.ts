/** What History says about each event, from the details that the API gives of it. */
import { changeDetail } from '../../src/console/format/change-detail.js';
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

const ROWS: readonly (readonly [type: string, data: object, english: string, portuguese: string])[] = [
  ['AccountRegistered', { accountId: 42 }, '', ''],
  ['CredentialIssued', { clientId: 'client' }, 'client', 'client'],
  ['CredentialRevoked', { clientId: 'client' }, 'client', 'client'],
  ['SigningSecretIssued', {}, '', ''],
  ['SigningSecretsRevoked', {}, '', ''],
  ['PortalSessionOpened', SESSION, 'for maria: read, resend', 'para maria: ler, reenviar'],
  ['PortalSessionOpened', { ...SESSION, user: null }, 'read, resend', 'ler, reenviar'],
  ['PortalSessionEntered', { sessionId: 'ps_1' }, 'ps_1', 'ps_1'],
  ['PortalSessionEnded', { sessionId: 'ps_1' }, 'ps_1', 'ps_1'],
  [
    'WebhookAdded',
    { eventType: 'cash_in', url: URL, version: 1, headers: HEADERS },
    'headers X-Api-Key, X-Loja',
    'cabeçalhos X-Api-Key, X-Loja',
  ],
  ['WebhookUpdated', { eventType: 'cash_in', url: URL, version: 2, headers: [] }, '', ''],
  ['WebhookActivated', {}, '', ''],
  ['WebhookDeactivated', { reason: 'deactivated by the account' }, 'paused by the account', 'pausado pela conta'],
  [
    'WebhookDeactivated',
    { reason: 'the endpoint answered 410 Gone', by: 'service' },
    'the receiver answered 410 Gone',
    'o receptor respondeu 410 Gone',
  ],
  [
    'WebhookDeactivated',
    { reason: `nothing was delivered since ${SINCE}`, by: 'service', since: SINCE },
    `nothing was accepted since <${SINCE}>`,
    `nada foi aceito desde <${SINCE}>`,
  ],
  ['WebhookRemoved', {}, '', ''],
  [
    'EndpointFailing',
    { endpoint: URL, since: SINCE },
    `${URL} has accepted nothing since <${SINCE}>`,
    `${URL} não aceita nada desde <${SINCE}>`,
  ],
  ['EndpointRecovered', { endpoint: URL }, URL, URL],
  [
    'DeactivationAnnounced',
    { endpoint: URL, deactivatesAt: UNTIL },
    `${URL} is switched off on <${UNTIL}> unless it accepts a delivery`,
    `${URL} será desligada em <${UNTIL}>, a menos que aceite uma entrega`,
  ],
  ['NoticesSet', { url: URL, headers: HEADERS.slice(1) }, `${URL}, headers X-Loja`, `${URL}, cabeçalhos X-Loja`],
  ['NoticesRemoved', {}, '', ''],
  [
    'RecoveryStarted',
    { recoveryId: 'rec_1', webhookIds: [7, 8], count: 12, since: SINCE, until: UNTIL, perSecond: 20 },
    `Sends 12 deliveries, 20 per second. Published between <${SINCE}> and <${UNTIL}>.`,
    `Envia 12 entregas, 20 por segundo. Publicadas entre <${SINCE}> e <${UNTIL}>.`,
  ],
  ['RecoveryEnded', { recoveryId: 'rec_1', state: 'stopped', passedBy: null }, 'Stopped', 'Parada'],
  ['IdempotencyKeyUsed', {}, '', ''],
];

const time = (iso: string) => `<${iso}>`;

it.each(ROWS)('%s %j', (type, data, english, portuguese) => {
  const event = { type, data } as AccountEvent;
  const change = { type, details: JSON.parse(JSON.stringify(detailsOf(event))), changes: changesOf(event) };
  expect(changeDetail(change, en, time)).toBe(english);
  expect(changeDetail(change, ptBr, time)).toBe(portuguese);
});

it('knows each type of event by its name', () => {
  const types = [...new Set(ROWS.map(([type]) => type))].sort();
  expect(Object.keys(en.changes.types).sort()).toEqual(types);
});

it("leaves the API's text of a type that it does not know", () => {
  const change = { type: 'AccountRenamed', details: {}, changes: 'account 42 is called Aurora' };
  expect(changeDetail(change, ptBr, time)).toBe('account 42 is called Aurora');
});
