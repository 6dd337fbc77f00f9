import { NO_OBJECT, type RecordedEvent } from '../../src/ports/event-store.js';
import { type Folded, foldNext, handedOut, whyUnfoldable } from '../../src/read-model/fold.js';
import { combined, loadProjection, PROJECTIONS, projectionSource } from '../../src/read-model/projection-source.js';
import { AT, added } from '../support/generators/webhook-samples.js';
import { growthOf } from '../support/oracles/growth.js';
import { MAX_GROWTH } from '../support/oracles/linear-time.js';

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
/** 100,000 lists, one in another. */
const NESTED: unknown = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000));
const JUNK: readonly unknown[] = [
  NESTED,
  { nested: NESTED },
  [{ ...SEALED, nested: NESTED }],
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
    expect(whyUnfoldable(stored(type, NO_OBJECT))).toBe(
      'its data is no JSON object, or is too long or nested too deeply',
    );
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

it.each([
  ['webhooks', (n: number) => stored('WebhookAdded', { ...added(n).data, headers: [] })],
  [
    'sessions',
    (n: number) =>
      stored('PortalSessionOpened', { ...SAMPLES.PortalSessionOpened, sessionId: `s${n}`, until: '9', codeUntil: '9' }),
  ],
])('an account with ten times as many %s as commands make of them is set aside', (kind, event) => {
  let folded: Folded<unknown> | undefined;
  for (let n = 0; n <= 1_000; n += 1) {
    const next = foldNext<unknown>(projection, folded, { ...event(n), revision: n });
    if ('why' in next) throw new Error(next.why);
    folded = next;
  }
  const next = foldNext<unknown>(projection, folded, { ...event(1_001), revision: 1_001 });
  expect(next).toEqual({ why: expect.stringContaining(`the account has more than 1000 ${kind}`) });
  expect(foldNext<unknown>(projection, folded, { ...stored('Other', {}), revision: 1_001 })).toMatchObject({
    revision: 1_001,
  });
});

it.each([
  ['webhooks', (n: number) => stored('WebhookAdded', { ...added(n).data, url: 'x'.repeat(400_000), headers: [] })],
  [
    'credentials',
    (n: number) => stored('CredentialIssued', { clientId: `${n}`, secretHash: 'x'.repeat(400_000), issuedAt: AT }),
  ],
])('an account whose %s are ten times as long as commands make them is set aside', (_, event) => {
  let folded: Folded<unknown> | undefined;
  let why: string | null = null;
  let characters = 0;
  for (let n = 0; n < 1_000 && why === null; n += 1) {
    const next = foldNext<unknown>(projection, folded, { ...event(n), revision: n });
    if ('why' in next) why = next.why;
    else {
      folded = next;
      characters += 400_000;
    }
  }
  expect(why).toContain('the account has more than 10485760 characters');
  expect(characters).toBeLessThan(13_000_000);
  // A state that was handed out is measured before each event.
  const large = folded && handedOut(folded);
  expect(foldNext<unknown>(projection, large, { ...event(1_000), revision: 1_000 })).toMatchObject({
    why: expect.stringContaining('the account has more than 10485760 characters'),
  });
});

it('an event of an account with twice the webhooks and failing URLs takes at most three times as long', async () => {
  const large = (length: number) => {
    const ids = Array.from({ length }, (_, n) => n);
    const webhooks = ids.map((id) => ({ id, endpoint: `https://a/${id}` }));
    const failing = webhooks.map(({ endpoint }) => ({ endpoint, since: AT }));
    return { ids, state: { webhooks, failing, recoveries: [] } };
  };
  const { fold } = loadProjection('account-webhooks');
  const parse = ({ ids, state }: ReturnType<typeof large>) => {
    fold(state, stored('EndpointRecovered', { endpoint: 'https://b/' }));
    fold(state, stored('RecoveryStarted', { ...SAMPLES.RecoveryStarted, webhookIds: ids }));
  };
  expect(await growthOf(large, parse, { maxLength: 65_536, most: MAX_GROWTH })).toBeLessThanOrEqual(MAX_GROWTH);
});

it('a recovery of more webhooks than an account can have is not folded', () => {
  const webhookIds = Array.from({ length: 1_001 }, (_, n) => n);
  const why = whyUnfoldable(stored('RecoveryStarted', { ...SAMPLES.RecoveryStarted, webhookIds }));
  expect(why).toBe('its webhookIds is not what it should be');
});
