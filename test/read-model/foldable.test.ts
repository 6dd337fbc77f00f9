import { NO_OBJECT, type RecordedEvent } from '../../src/ports/event-store.js';
import { whyUnfoldable } from '../../src/read-model/fold.js';
import { combined, loadProjection, PROJECTIONS, projectionSource } from '../../src/read-model/projection-source.js';
import { AT, added } from '../support/generators/webhook-samples.js';

const SEALED = { key: 'X-Key', sealed: 'v1.a.b' };
/** Of each type that a fold knows, with what is read of it. */
const SAMPLES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  AccountRegistered: { accountId: 42 },
  CredentialIssued: { clientId: 'c', secretHash: 'h', issuedAt: AT },
  CredentialRevoked: { clientId: 'c' },
  SigningSecretIssued: { sealed: 's', issuedAt: AT },
  SigningSecretsRevoked: { revokedAt: AT },
  PortalSessionOpened: {
    ...{ sessionId: 's', codeHash: 'h', codeUntil: AT, can: ['read'], actor: 'c/u', until: AT, openedAt: AT },
    ...{ user: null, clientId: null, next: null, returnUrl: null },
  },
  PortalSessionEntered: { sessionId: 's', cookieHash: 'h' },
  PortalSessionEnded: { sessionId: 's' },
  WebhookAdded: { ...added(7).data, headers: [SEALED] },
  WebhookUpdated: {
    ...{ webhookId: 7, url: 'https://a/', endpoint: 'https://a/', headers: [SEALED], version: 2 },
    updatedAt: AT,
  },
  WebhookActivated: { webhookId: 7, activatedAt: AT },
  WebhookDeactivated: { webhookId: 7, reason: '410 Gone', deactivatedAt: AT },
  WebhookRemoved: { webhookId: 7 },
  EndpointFailing: { endpoint: 'https://a/', since: AT },
  DeactivationAnnounced: { endpoint: 'https://a/', deactivatesAt: 'x' },
  EndpointRecovered: { endpoint: 'https://a/' },
  RecoveryStarted: {
    ...{
      recoveryId: 'r',
      webhookIds: [7],
      since: AT,
      until: AT,
      include: ['held'],
      perSecond: 20,
      count: 3,
      actor: 'a caller',
      startedAt: AT,
    },
  },
  RecoveryEnded: { recoveryId: 'r', state: 'done', passedBy: 0 },
  NoticesSet: { url: 'https://a', endpoint: 'https://a/', headers: [] },
  NoticesRemoved: { removedAt: AT },
};
const JUNK: readonly unknown[] = [
  null,
  true,
  -1,
  1.5,
  Number.NaN,
  '',
  'text',
  [],
  [null],
  [1],
  [{}],
  [[]],
  {},
  { key: 1 },
];
const projection = combined(PROJECTIONS.map(loadProjection));

const stored = (type: string, data: Readonly<Record<string, unknown>>): RecordedEvent => ({
  ...{ id: 'an id', type, data, metadata: {} },
  ...{ stream: 'account-42', revision: 0, position: '1' },
});

it('every type that a fold knows is looked at', () => {
  const handled = PROJECTIONS.flatMap((name) => [...projectionSource(name).matchAll(/^ {4}([A-Z]\w+): \(/gm)]);
  expect([...new Set(handled.map(([, type]) => type))].toSorted()).toEqual(Object.keys(SAMPLES).toSorted());
  for (const type of Object.keys(SAMPLES)) {
    expect(whyUnfoldable(stored(type, NO_OBJECT))).toBe('its data is no JSON object');
  }
});

describe.each(Object.entries(SAMPLES))('%s', (type, data) => {
  it('is folded with what is read of it, and with more', () => {
    expect(whyUnfoldable(stored(type, data))).toBeNull();
    expect(whyUnfoldable(stored(type, { ...data, later: { any: 'thing' } }))).toBeNull();
  });

  it.each(Object.keys(data).filter((field) => field !== 'eventType' || type === 'WebhookAdded'))(
    'is not folded without %s',
    (field) => {
      const { [field]: _, ...rest } = data;
      expect(whyUnfoldable(stored(type, rest))).toBe(`its data has no ${field}`);
      expect(whyUnfoldable(stored(type, { ...data, [field]: {} }))).toBe(`its ${field} is not what it should be`);
    },
  );

  it('no fold throws, whatever passes', () => {
    for (const field of Object.keys(data)) {
      for (const junk of JUNK) {
        const event = stored(type, { ...data, [field]: junk });
        if (whyUnfoldable(event) !== null) continue;
        const state = projection.fold(projection.fold(projection.init(), event), event);
        expect(JSON.parse(JSON.stringify(state))).toBeInstanceOf(Object);
      }
    }
  });
});

it('what no fold knows is taken as it is', () => {
  for (const type of ['IdempotencyKeyUsed', 'OfALaterRelease', '$metadata', '__proto__', 'constructor']) {
    expect(whyUnfoldable(stored(type, NO_OBJECT))).toBeNull();
  }
});

it('a value of the event is not told', () => {
  const why = whyUnfoldable(stored('CredentialIssued', { clientId: 'c', secretHash: 'h', issuedAt: 17 }));
  expect(why).toBe('its issuedAt is not what it should be');
});
