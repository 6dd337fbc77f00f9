/** JSON with an entity tag, for clients that ask for a list again and again (RFC 9110, section 8.8.3 and 13.1.2). */
import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import type { Parameter, Response } from './operation.js';

export const IF_NONE_MATCH: Parameter = {
  name: 'If-None-Match',
  in: 'header',
  description:
    'The `ETag` of an earlier response to the same request: if nothing has changed since, the answer is 304.',
  schema: { type: 'string' },
};

export const ETAG = { ETag: 'Identifies this response: see `If-None-Match`.' };

export const NOT_MODIFIED: Response = {
  description: 'Nothing has changed since the response that `If-None-Match` names.',
  headers: ETAG,
};

/** @returns whether the client has this body already: then the answer is a 304 */
export function isUnchanged(ctx: Context, body: string): boolean {
  const etag = `"${createHash('sha256').update(body).digest('base64url')}"`;
  ctx.set('etag', etag);
  if (!matches(ctx.get('if-none-match'), etag)) return false;
  ctx.status = 304;
  return true;
}

/** Weakly, as a proxy that compresses makes an entity tag weak. */
function matches(given: string, etag: string): boolean {
  return given.split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === etag);
}
