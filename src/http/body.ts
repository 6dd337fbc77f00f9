/**
 * Request bodies: 415 for another media type and for a compressed body, 413 over 64 KiB, or 8 KiB of whoever has no token yet (also
 * chunked), 400 for invalid JSON and for what the schema forbids, naming every field.
 */
import { Readable } from 'node:stream';
import { Ajv, type ErrorObject } from 'ajv';
import type { Context } from 'koa';
import bodyParser from 'koa-bodyparser';
import { OWN_SCHEMAS } from '../payments/payment-event-schema.js';
import type { Schema } from '../schema.js';
import { readTime } from '../time/iso-time.js';
import { ApiError, badRequest, type FieldError, fieldError } from './api-error.js';
import type { FieldProblem } from './error-codes.js';

const LIMIT_BYTES = 65_536;
/** Of a form or a code, before anybody is known: nothing else bounds how many such bodies are held at a time. */
const ANONYMOUS_BYTES = 8_192;
const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Without an encoding it returns bytes: its own decoding would replace invalid UTF-8. */
const AS_BYTES = { enableTypes: ['text'], encoding: '', extendTypes: { text: [JSON_TYPE, FORM_TYPE] } };
const parse = bodyParser(AS_BYTES);

/** koa-bodyparser keeps each chunk until the last one came: 65,000 of one byte were 25 MB. So it gets them as one. */
async function parsed(ctx: Context, limit: number): Promise<Buffer> {
  const body = Readable.from([await readBody(ctx, limit)], { objectMode: false });
  const req = Object.assign(body, { headers: {} });
  await parse(Object.create(ctx, { req: { value: req } }) as Context, async () => undefined);
  return ctx.request.body as Buffer;
}

async function readJson(ctx: Context, limit: number): Promise<unknown> {
  if (mediaType(ctx) !== JSON_TYPE) throw new ApiError({ code: 'unsupported-type', params: { allowed: JSON_TYPE } });
  const body = await parsed(ctx, limit);
  try {
    return JSON.parse(UTF8.decode(body));
  } catch {
    throw new ApiError({ code: 'body-not-json' });
  }
}

/** The undecoded text; empty for another media type. @throws as readBody */
export async function readForm(ctx: Context): Promise<string> {
  return mediaType(ctx) === FORM_TYPE ? String(await parsed(ctx, ANONYMOUS_BYTES)) : '';
}

/** In lower case, without parameters. */
export function mediaType(ctx: Context): string {
  return (ctx.get('content-type').split(';')[0] ?? '').trim().toLowerCase();
}

/** Nothing is unpacked. @param take gets the length of each chunk; what it throws ends the reading @throws ApiError 400, 413, 415 */
export async function readBody(
  { req }: Pick<Context, 'req'>,
  limit = LIMIT_BYTES,
  take: (bytes: number) => void = () => undefined,
): Promise<Buffer> {
  const { 'content-encoding': encoding = 'identity', 'content-length': length = '0' } = req.headers;
  if (encoding.trim().toLowerCase() !== 'identity') throw new ApiError({ code: 'unsupported-encoding' });
  const tooLarge = () => new ApiError({ code: 'body-too-large', params: { limit } });
  if (Number(length) > limit) throw tooLarge();
  const body = new Collected();
  const add = (chunk: Buffer) => {
    if (body.length + chunk.length > limit) throw tooLarge();
    take(chunk.length);
    body.add(chunk);
  };
  await received(req, add);
  return body.whole();
}

/** One buffer: a chunk of one byte, kept as it came, takes some 400 bytes of memory. */
class Collected {
  length = 0;
  #held = Buffer.alloc(0);

  add(chunk: Buffer): void {
    if (this.length + chunk.length > this.#held.length) this.#grow(this.length + chunk.length);
    chunk.copy(this.#held, this.length);
    this.length += chunk.length;
  }

  whole(): Buffer {
    return this.#held.subarray(0, this.length);
  }

  #grow(least: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(least, 2 * this.#held.length));
    this.#held.copy(larger, 0, 0, this.length);
    this.#held = larger;
  }
}

/** Not an async iterator, whose early end destroys the connection before the answer is sent. */
function received(req: Context['req'], add: (chunk: Buffer) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const onData = (chunk: Buffer) => {
      try {
        add(chunk);
      } catch (error) {
        // The rest flows away unread, for as long as a request may take.
        req.off('data', onData).resume();
        reject(error);
      }
    };
    const cutOff = () => reject(new ApiError({ code: 'malformed-request' }));
    // The client may have gone while its token was verified: then no event comes any more.
    if (req.destroyed) return cutOff();
    const end = () => {
      // A request that was read closes as well: its error would cost a stack trace each time.
      req.off('close', cutOff);
      resolve();
    };
    req.on('data', onData).once('end', end).once('error', cutOff).once('close', cutOff);
  });
}

const MOST_ERRORS = 20;
/** Lists up to this length are validated item by item; longer than any list of a request may be. */
const MAX_ITEMS = 100;
/** Only for the document: src/endpoints, `headerProblems` and the check for an empty change have messages of their own. */
const JUDGED_LATER = ['pattern', 'maxLength', 'anyOf'];
const FORMATS = { 'date-time': (text: string) => readTime(text) !== null, uri: true } as const;

const ajv = new Ajv({ ...OWN_SCHEMAS, formats: FORMATS, allErrors: true, verbose: true });
for (const keyword of JUDGED_LATER) ajv.removeKeyword(keyword);
ajv.addVocabulary(JUDGED_LATER);

interface ReaderOptions {
  /** No body is an empty object. */
  readonly isOptional?: boolean | undefined;
  /** Nobody is known yet: the limit is lower. */
  readonly isAnonymous?: boolean;
}

/** Reads JSON bodies of a schema: coerces nothing and ignores unknown fields. */
export function jsonReader<T>(schema: Schema<T>, options: ReaderOptions = {}): (ctx: Context) => Promise<T> {
  const { isOptional = false, isAnonymous = false } = options;
  const limit = isAnonymous ? ANONYMOUS_BYTES : LIMIT_BYTES;
  const validate = ajv.compile<T>(schema);
  return async (ctx) => {
    const isAbsent = !ctx.request.length && ctx.headers['transfer-encoding'] === undefined;
    const body = isOptional && isAbsent ? {} : await readJson(ctx, limit);
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      throw new ApiError({ code: 'body-not-object' });
    }
    const tooLong = longLists(schema, body as Readonly<Record<string, unknown>>);
    if (tooLong.length > 0) throw badRequest(tooLong);
    if (validate(body)) return body;
    throw badRequest((validate.errors ?? []).filter(isShown).slice(0, MOST_ERRORS).map(schemaError));
  };
}

/**
 * Lists far too long, before their items are validated: ajv makes an object for each fault, so a list of 20,000 took
 * 45 ms. Unknown fields are not validated.
 */
function longLists(schema: Schema, body: Readonly<Record<string, unknown>>): readonly FieldError[] {
  const properties = (schema.properties ?? {}) as Readonly<Record<string, { readonly maxItems?: number }>>;
  return Object.entries(properties).flatMap(([field, { maxItems: limit = MAX_ITEMS }]) => {
    const value = Object.hasOwn(body, field) ? body[field] : null;
    const isLong = Array.isArray(value) && value.length > MAX_ITEMS;
    return isLong ? [fieldError(field, { code: 'too-many-items', params: { limit } })] : [];
  });
}

/** Of fields of which one is needed, the first is missing where none is there. What is no text is none of these texts. */
function isShown({ keyword, params, schemaPath, data }: ErrorObject): boolean {
  if (keyword === 'enum' && typeof data !== 'string') return false;
  return keyword === 'oneOf' ? params.passingSchemas !== null : !schemaPath.startsWith('#/oneOf/1');
}

function schemaError(error: ErrorObject): FieldError {
  const { keyword, params, instancePath } = error;
  const named =
    keyword === 'required' ? params.missingProperty : keyword === 'oneOf' && alternatives(error.parentSchema)[1];
  return fieldError(fieldName(named ? `${instancePath}/${named}` : instancePath), problemOf(error));
}

/** The fields of which one is needed. */
function alternatives(parentSchema: ErrorObject['parentSchema']): readonly string[] {
  return parentSchema?.oneOf.flatMap(({ required }: { required: readonly string[] }) => required);
}

/** /headers/0/key -> headers[0].key */
function fieldName(pointer: string): string {
  return pointer
    .slice(1)
    .replace(/\/(\d+)/g, '[$1]')
    .replaceAll('/', '.');
}

function problemOf({ keyword, params, parentSchema }: ErrorObject): FieldProblem {
  switch (keyword) {
    case 'required':
      return { code: 'missing' };
    case 'enum':
      return { code: 'not-one-of', params: { allowed: params.allowedValues } };
    case 'type':
      return { code: 'wrong-type', params: { type: params.type } };
    case 'minimum':
    case 'maximum':
      return { code: 'out-of-range', params: { minimum: parentSchema?.minimum, maximum: parentSchema?.maximum } };
    case 'maxItems':
      return { code: 'too-many-items', params: { limit: params.limit } };
    case 'minItems':
      return { code: 'too-few-items', params: { limit: params.limit } };
    case 'oneOf':
      return { code: 'not-together', params: { other: alternatives(parentSchema)[0] ?? '' } };
    case 'format':
      return { code: 'not-a-time' };
    case 'uniqueItems':
      return { code: 'repeated-items' };
    case 'minLength':
      return { code: 'too-short', params: { limit: params.limit } };
    default:
      throw new Error(`no code for ${keyword}`);
  }
}
