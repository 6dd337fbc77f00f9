/** The response to a refused command on sessions and signing secrets. */
import type { ChangedCredentials } from '../../accounts/change-credentials.js';
import { MAX_SESSIONS, MAX_SIGNING_SECRETS } from '../../accounts/decide-credentials.js';
import { ApiError, accountNotFound, badRequest, fieldError } from '../api-error.js';
import { unauthorized } from '../tokens/authenticate.js';
import { overBudget } from '../webhooks/webhook-command.js';

type Accepted = Extract<ChangedCredentials, { kind: 'accepted' }>;

/** @throws ApiError 400, 401, 404, 409, 429 */
export function mustBeDone(decision: ChangedCredentials): asserts decision is Accepted {
  switch (decision.kind) {
    case 'accepted':
      return;
    case 'account-not-found':
      throw accountNotFound();
    case 'opener-ended':
      throw unauthorized('the credential was revoked', '');
    case 'session-not-found':
      throw new ApiError(404, 'session not found');
    case 'code-refused':
      throw codeRefused();
    case 'too-many-sessions':
      throw new ApiError(409, `${MAX_SESSIONS} sessions of the account are open, and none makes room: end one of them`);
    case 'too-many-secrets':
      throw new ApiError(409, `${MAX_SIGNING_SECRETS} signing secrets sign: wait until the first of them ends`);
    case 'over-budget':
      throw overBudget(decision.retryAfterMs);
    default:
      decision satisfies never;
  }
}

export function codeRefused(): ApiError {
  return badRequest([fieldError('code', 'is not valid, was used, or has expired: open another session')]);
}
