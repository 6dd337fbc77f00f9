/** Decisions on the state that the projection folds: what happened between a request's authentication and its command. */
import { expect, test } from '@jest/globals';
import { type CredentialCommand, decideCredentials } from '../../src/accounts/decide-credentials.js';
import type { AccountCredentials } from '../../src/read-model/accounts.js';
import { loadProjection } from '../../src/read-model/projection-source.js';
import type { AccountEvent, PortalSessionOpened } from '../../src/webhooks/events.js';
import { AT, registered } from '../support/webhook-samples.js';

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
  const rest = { clientId: 'c', parentId: null, next: null, returnUrl: null, until: LATER, openedAt: AT } as const;
  return { type: 'PortalSessionOpened', data: { ...own, ...rest, ...changes } };
}

const ended = (sessionId: string): AccountEvent => ({ type: 'PortalSessionEnded', data: { sessionId, endedAt: AT } });
const open = (sessionId: string, changes: Partial<PortalSessionOpened['data']> = {}): CredentialCommand => ({
  type: 'OpenSession',
  data: session(sessionId, changes).data,
});

function decided(events: readonly AccountEvent[], command: CredentialCommand): string {
  const all = [registered(), issued, ...events].map(({ type, data }, revision) => {
    return {
      ...{ id: `${revision}`, type, data: { ...data }, metadata: {} },
      ...{ stream: 'account-42', revision, position: '' },
    };
  });
  const state = all.reduce<unknown>((before, event) => projection.fold(before, event), projection.init());
  return decideCredentials(state as AccountCredentials, command).kind;
}

test('a session is not opened by a credential that was revoked meanwhile, so that none outlives its credential', () => {
  expect(decided([], open('a'))).toBe('accepted');
  expect(decided([revoked], open('a'))).toBe('opener-ended');
  expect(decided([revoked], open('a', { clientId: null }))).toBe('accepted');
});

test('a session is not opened in one that ended or expired meanwhile', () => {
  const inside = open('b', { parentId: 'a' });
  expect(decided([session('a')], inside)).toBe('accepted');
  expect(decided([session('a'), ended('a')], inside)).toBe('opener-ended');
  expect(decided([session('a', { until: AT })], inside)).toBe('opener-ended');
});

test('a session whose credential was revoked, or that ended, is not entered', () => {
  const enter = { type: 'EnterSession', sessionId: 'a', codeHash: 'code of a', cookieHash: 'x', at: AT } as const;
  expect(decided([session('a')], enter)).toBe('accepted');
  expect(decided([session('a'), revoked], enter)).toBe('code-refused');
  expect(decided([session('a'), ended('a')], enter)).toBe('code-refused');
  expect(decided([session('a')], { ...enter, codeHash: 'code of b' })).toBe('code-refused');
});

test('an account that was never registered decides nothing', () => {
  expect(decideCredentials(null, open('a')).kind).toBe('account-not-found');
});
