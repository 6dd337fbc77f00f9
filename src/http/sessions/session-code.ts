/** The one-time code that opens a session: 256 random bits, which only the page that it was sent to has. */
import { sessionSecretIn } from '../../accounts/client-credentials.js';
import type { Accounts } from '../../read-model/accounts.js';
import { object, text } from '../../schema.js';
import type { PortalSession } from '../../webhooks/state.js';
import { type ApiError, badRequest, fieldError } from '../api-error.js';
import { jsonReader } from '../body.js';

export const CODE = object('SessionCode', 'The one-time code of a session.', {
  code: text('The code, from the fragment of the URL.'),
});

export const readCode = jsonReader(CODE, { isAnonymous: true });

export interface CodedSession {
  readonly accountId: number;
  readonly codeHash: string;
  readonly session: PortalSession;
}

/** Without the code nobody gets as far as a command, which would wait for those of the account. @throws ApiError 400 */
export async function findByCode(code: string, accounts: Pick<Accounts, 'session'>): Promise<CodedSession> {
  const secret = sessionSecretIn(code);
  if (!secret) throw codeRefused();
  const { accountId, sessionId, hash: codeHash } = secret;
  const session = await accounts.session(accountId, (one) => one.id === sessionId && one.codeHash === codeHash);
  if (!session) throw codeRefused();
  return { accountId, codeHash, session };
}

/** One response for all codes that do not work: it does not reveal why. */
export function codeRefused(): ApiError {
  return badRequest([fieldError('code', { code: 'code-refused' })]);
}
