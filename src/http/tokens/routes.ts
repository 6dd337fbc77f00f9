import type { ApiParts } from '../api-parts.js';
import { listCredentials, showAuthorizationServer } from './credentials.js';
import { issueToken } from './issue-token.js';

/** Another issuer's tokens: then none are issued here. */
export const routes = (parts: ApiParts) => [
  listCredentials(parts),
  ...(parts.ownTokens ? [issueToken(parts, parts.ownTokens), showAuthorizationServer(parts)] : []),
];
