/** Request bodies: 415 for another media type, 413 over 64 KiB (after decoding, also chunked), 400 for invalid JSON. */
import { Readable } from 'node:stream';
import type { Context, Middleware, Next } from 'koa';
import bodyParser from 'koa-bodyparser';
import { ApiError } from './api-error.js';
import { readBody } from './read-body.js';

const LIMIT_BYTES = 65_536;
const LIMIT = `${LIMIT_BYTES}b`;
const tooLarge = () => new ApiError(413, `the body has more than ${LIMIT_BYTES} bytes`);
const JSON_TYPE = 'application/json';

export function jsonBody(): Middleware {
  // Without an encoding the parser returns bytes; its own decoding would replace invalid UTF-8 with U+FFFD.
  const options = {
    enableTypes: ['text'],
    encoding: '',
    textLimit: LIMIT,
    extendTypes: { text: [JSON_TYPE] },
    onerror,
  };
  const parse = inOneChunk(bodyParser(options));
  return async (ctx, next) => {
    if (mediaType(ctx) !== JSON_TYPE) throw new ApiError(415, 'the content-type must be application/json');
    await parse(ctx, async () => {
      ctx.request.body = fromJson(ctx.request.body);
      await next();
    });
  };
}

function fromJson(body: unknown): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body as Buffer));
  } catch {
    throw new ApiError(400, 'the body is not valid JSON');
  }
}

/** The undecoded text of a form body; none for another media type. */
export function formBody(): Middleware {
  const form = 'application/x-www-form-urlencoded';
  const parse = inOneChunk(
    bodyParser({ enableTypes: ['text'], textLimit: LIMIT, extendTypes: { text: [form] }, onerror }),
  );
  return async (ctx: Context, next: Next) => {
    await (mediaType(ctx) === form ? parse(ctx, next) : next());
  };
}

/** The parser keeps each chunk until the last one came: 65,000 of one byte were 25 MB, of whoever sends them. */
function inOneChunk(parse: Middleware): Middleware {
  return async (ctx, next) => {
    const body = Readable.from([await readBody(ctx, { bytes: LIMIT_BYTES, tooLarge })], { objectMode: false });
    const req = Object.assign(body, { headers: ctx.req.headers });
    await parse(Object.create(ctx, { req: { value: req } }) as Context, next);
  };
}

/** In lower case, without parameters. */
export function mediaType(ctx: Context): string {
  return (ctx.get('content-type').split(';')[0] ?? '').trim().toLowerCase();
}

function onerror(error: Error & { status?: number }): never {
  if (error.status === 413) throw tooLarge();
  if (error.status === 415) throw new ApiError(415, 'the content-encoding is not supported');
  throw new ApiError(400, 'the body could not be read completely');
}
