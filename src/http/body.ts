/** Request bodies: 415 for another media type, 413 over 64 KiB (as decoded, chunked too), 400 for what is not JSON. */
import type { Context, Middleware, Next } from 'koa';
import bodyParser from 'koa-bodyparser';
import { ApiError } from './api-error.js';

const LIMIT_BYTES = 65_536;
const LIMIT = `${LIMIT_BYTES}b`;

export function jsonBody(): Middleware {
  // detectJSON: the media type was looked at here, and stricter than the parser would.
  // onProtoPoisoning: a field of the name __proto__ is ignored like every unknown one; JSON.parse makes it an own key.
  const options = {
    enableTypes: ['json'],
    jsonLimit: LIMIT,
    detectJSON: () => true,
    onProtoPoisoning: 'ignore',
    onerror,
  };
  const parse = bodyParser(options);
  return async (ctx, next) => {
    if (mediaType(ctx) !== 'application/json') throw new ApiError(415, 'the content-type must be application/json');
    await parse(ctx, next);
  };
}

/** The body of a form as the text it came as; none where it is of another media type. */
export function formBody(): Middleware {
  const form = 'application/x-www-form-urlencoded';
  const parse = bodyParser({ enableTypes: ['text'], textLimit: LIMIT, extendTypes: { text: [form] }, onerror });
  return async (ctx: Context, next: Next) => {
    await (mediaType(ctx) === form ? parse(ctx, next) : next());
  };
}

function mediaType(ctx: Context): string {
  return (ctx.get('content-type').split(';')[0] ?? '').trim().toLowerCase();
}

function onerror(error: Error & { status?: number }): never {
  if (error.status === 413) throw new ApiError(413, `the body has more than ${LIMIT_BYTES} bytes`);
  if (error.status === 415) throw new ApiError(415, 'the content-encoding is not supported');
  throw new ApiError(400, 'the body is not valid JSON');
}
