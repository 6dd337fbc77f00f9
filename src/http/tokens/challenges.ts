/** The refusals of RFC 6750 section 3, with their challenge. */
import { ApiError } from '../api-error.js';

/** RFC 6750 3.1. @param scope `, scope="..."` or nothing */
export function forbidden(message: string, scope: string): ApiError {
  const challenge = `Bearer realm="account-webhooks", error="insufficient_scope"${scope}`;
  return new ApiError(403, message, { headers: { 'www-authenticate': challenge } });
}

export function invalidToken(why: string): ApiError {
  const description = why.replace(NOT_QUOTABLE, '?');
  return unauthorized(
    `the Bearer token is not valid: ${why}`,
    `, error="invalid_token", error_description="${description}"`,
  );
}

/** Characters that an error_description must not contain (RFC 6750 3), but that settings named in one may. */
const NOT_QUOTABLE = /[^\x20\x21\x23-\x5b\x5d-\x7e]/g;

/** @param error the rest of the challenge, or nothing */
export function unauthorized(message: string, error: string): ApiError {
  return new ApiError(401, message, { headers: { 'www-authenticate': `Bearer realm="account-webhooks"${error}` } });
}
