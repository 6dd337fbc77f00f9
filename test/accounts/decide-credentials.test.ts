/** Decisions on the state that the projection folds: what happened between a request's authentication and its command. */
import { type CredentialCommand, decideCredentials } from '../../src/accounts/decide-credentials.js';
import { loadProjection } from '../../src/read-model/projection-source.js';
import type { AccountEvent, PortalSessionOpened } from '../../src/webhooks/events.js';
import type { AccountCredentials } from '../../src/webhooks/state.js';
import { AT, registered } from '../support/generators/webhook-samples.js';

const LATER = '2026-11-03T11:00:00.000Z';
const projection = loadProjection('account-credentials');
const issued: AccountEvent = { type: 'CredentialIssued', data: { clientId: 'c', secretHash: 'h', issuedAt: AT } };
const revoked: AccountEvent = { type: 'CredentialRevoked', data: { clientId: 'c', revokedAt: AT } };

function session(sessionId: string, changes: Partial<PortalSessionOpened['data']> = {}): PortalSessionOpened {
  const own = {
    sessionId,
    codeHash: `code of ${sessionId}`,
    codeUntil: LATER,
    user: null,
    can: ['read'],
    actor: 'c/console',
  } as const;
  const rest = { clientId: 'c', next: null, returnUrl: null, until: LATER, openedAt: AT } as const;
  return { type: 'PortalSessionOpened', data: { ...own, ...rest, ...changes } };
}

const ended = (sessionId: string): AccountEvent => ({ type: 'PortalSessionEnded', data: { sessionId, endedAt: AT } });
const open = (sessionId: string, changes: Partial<PortalSessionOpened['data']> = {}): CredentialCommand => ({
  type: 'OpenSession',
  data: session(sessionId, changes).data,
});

function decision(events: readonly AccountEvent[], command: CredentialCommand) {
  const all = [registered(), issued, ...events].map(({ type, data }, revision) => {
    return {
      ...{ id: `${revision}`, type, data: { ...data }, metadata: {} },
      ...{ stream: 'account-42', revision, position: '' },
    };
  });
  const state = all.reduce<unknown>((before, event) => projection.fold(before, event), projection.init());
  return decideCredentials(state as AccountCredentials, command);
}

const decided = (events: readonly AccountEvent[], command: CredentialCommand) => decision(events, command).kind;

/** The sessions that an accepted command ends. */
function endedBy(events: readonly AccountEvent[], command: CredentialCommand): string[] {
  const made = decision(events, command);
  if (made.kind !== 'accepted') throw new Error(`refused: ${made.kind}`);
  return made.events.flatMap(({ type, data }) => (type === 'PortalSessionEnded' ? [data.sessionId] : []));
}

test('a session is not opened by a credential that was revoked meanwhile, so that none outlives its credential', () => {
  expect(decided([], open('a'))).toBe('accepted');
  expect(decided([revoked], open('a'))).toBe('token-invalid');
  expect(decided([revoked], open('a', { clientId: null }))).toBe('accepted');
});

test('a session whose credential was revoked, or that ended, is not entered', () => {
  const enter = {
    type: 'EnterSession',
    sessionId: 'a',
    codeHash: 'code of a',
    cookieHash: 'x',
    former: [],
    at: AT,
  } as const;
  expect(decided([session('a')], enter)).toBe('accepted');
  expect(decided([session('a'), revoked], enter)).toBe('code-refused');
  expect(decided([session('a'), ended('a')], enter)).toBe('code-refused');
  expect(decided([session('a')], { ...enter, codeHash: 'code of b' })).toBe('code-refused');
});

describe('entering a session', () => {
  const entered = (sessionId: string, changes: Partial<PortalSessionOpened['data']> = {}): AccountEvent[] => [
    session(sessionId, { user: 'maria', actor: 'c/maria', ...changes }),
    { type: 'PortalSessionEntered', data: { sessionId, cookieHash: `cookie of ${sessionId}`, enteredAt: AT } },
  ];
  const enter = (former: readonly string[], of = (id: string) => `cookie of ${id}`): CredentialCommand => ({
    ...({ type: 'EnterSession', sessionId: 'new', codeHash: 'code of new', cookieHash: 'x', at: AT } as const),
    former: former.map((sessionId) => ({ sessionId, hash: of(sessionId) })),
  });
  const opened = (changes: Partial<PortalSessionOpened['data']> = {}) =>
    session('new', { user: 'maria', actor: 'c/maria', can: ['read', 'resend'], ...changes });

  test('ends those of the same browser, user and rights, in whatever order the rights were given', () => {
    const same = [...entered('a', { can: ['resend', 'read'] }), ...entered('b', { can: ['read', 'resend'] })];
    expect(endedBy([...same, opened()], enter(['a', 'b']))).toEqual(['a', 'b']);
    expect(endedBy([...same, opened()], enter(['b']))).toEqual(['b']);
  });

  test('ends none of another user, of other rights, or of another browser', () => {
    const others = [
      ...entered('user', { can: ['read', 'resend'], user: 'joao', actor: 'c/joao' }),
      ...entered('rights', { can: ['read'] }),
      ...entered('browser', { can: ['read', 'resend'] }),
    ];
    const events = [...others, opened()];
    expect(endedBy(events, enter(['user', 'rights']))).toEqual([]);
    expect(
      endedBy(
        events,
        enter(['browser'], () => 'guessed'),
      ),
    ).toEqual([]);
  });
});

test('where 100 sessions are open, a client that names 99 users ends its own for another, not the only one of a second client', () => {
  const others = Array.from({ length: 99 }, (_, index) => session(`m${index}`, { actor: `thief/${index}` }));
  expect(endedBy([session('first', { actor: 'c/joao' }), ...others], open('new'))).toEqual(['m0']);
});

test('where 100 sessions are open, the oldest of the user who has most ends for another', () => {
  const others = Array.from({ length: 99 }, (_, index) => session(`m${index}`, { actor: 'c/maria' }));
  const first = session('joao', { actor: 'c/joao' });
  expect(endedBy([first, ...others.slice(1)], open('new'))).toEqual([]);
  expect(endedBy([first, ...others], open('new'))).toEqual(['m0']);
});

test('an account that was never registered decides nothing', () => {
  expect(decideCredentials(null, open('a')).kind).toBe('account-not-found');
});

describe('a new signing secret', () => {
  const secret: AccountEvent = { type: 'SigningSecretIssued', data: { sealed: 's', issuedAt: AT } };
  const rotated = (count: number, revokePrevious: boolean) => {
    const command = { type: 'RotateSigningSecret', sealed: 'new', revokePrevious, at: AT } as const;
    const made = decision(Array(count).fill(secret), command);
    return made.kind === 'accepted' ? made.events.map(({ type }) => type) : made.kind;
  };

  test.each([
    [4, false, ['SigningSecretIssued']],
    [5, false, 'too-many-secrets'],
    [5, true, ['SigningSecretIssued', 'SigningSecretsRevoked']],
  ])('beside %i that sign, revoking the others: %p -> %p', (count, revokes, result) => {
    expect(rotated(count, revokes)).toEqual(result);
  });
});
