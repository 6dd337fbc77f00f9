/** The parameters of a query: what each means, how it is read, and what it must be. */
import { type ParsedUrlQuery, parse } from 'node:querystring';
import type { Context } from 'koa';
import { codesShownAs } from '../endpoints/failure.js';
import { STATUS_CLASSES } from '../ports/deliveries-view.js';
import type { Schema } from '../schema.js';
import { readTime } from '../time/iso-time.js';
import { EVENT_TYPES } from '../webhooks/limits.js';
import { badRequest, type FieldError, fieldError } from './api-error.js';
import type { FieldProblem } from './error-codes.js';
import { EVENT_TYPE, TIME } from './shared-schemas.js';

/** In a query it is a `Wire`; read, a `Value`, and `Absent` if it is not there. */
export interface Parameter<Wire = unknown, Value = unknown, Absent = unknown> {
  readonly description: string;
  readonly schema: Schema<Wire>;
  /** Null: it is not valid. */
  readonly read: (text: string) => Value | null;
  /** Of one that is not valid. */
  readonly problem: FieldProblem;
  readonly absent: Absent;
  readonly required?: true;
}

export type Query = Readonly<Record<string, Parameter>>;
export type AskedQuery<Q extends Query> = {
  readonly [K in keyof Q]: Q[K] extends Parameter<unknown, infer V, infer A> ? V | A : never;
};

/** Hazard: Koa's own `query` takes quadratic time: 0.2 s for 16 KiB that repeat one name. */
export function parseQuery({ querystring }: Pick<Context, 'querystring'>): ParsedUrlQuery {
  return parse(querystring, '&', '=', { maxKeys: 0 });
}

/** Unknown parameters are ignored. @throws ApiError 400 that names every wrong one */
export function readQuery<Q extends Query>(parameters: Q, query: ParsedUrlQuery): AskedQuery<Q> {
  const problems: FieldError[] = [];
  const asked = Object.entries(parameters).map(([name, { read, problem, absent, required }]) => {
    const given = query[name];
    if (given === undefined && required) problems.push(fieldError(name, { code: 'missing' }));
    if (given === undefined) return [name, absent] as const;
    const value = typeof given === 'string' ? read(given) : null;
    if (value === null) problems.push(fieldError(name, problem));
    return [name, value] as const;
  });
  const values = Object.fromEntries(asked) as AskedQuery<Q>;
  const { from, to }: Readonly<Record<string, unknown>> = values;
  if (typeof from === 'number' && typeof to === 'number' && from > to) {
    problems.push(fieldError('to', { code: 'not-later-than', params: { other: 'from' } }));
  }
  if (problems.length > 0) throw badRequest(problems);
  return values;
}

type Optional<Wire, Value> = Parameter<Wire, Value, null>;

export function parameter<Wire, Value>(
  description: string,
  schema: Schema<Wire>,
  read: (text: string) => Value | null,
  problem: FieldProblem,
): Optional<Wire, Value> {
  return { description, schema, read, problem, absent: null };
}

export function required<Wire, Value>(one: Optional<Wire, Value>) {
  return { ...one, required: true } as Parameter<Wire, Value, never>;
}

export function textQuery(description: string): Optional<string, string> {
  return parameter(description, { type: 'string' }, (text) => text, mustBe('given once'));
}

export function flagQuery(description: string): Optional<boolean, boolean> {
  const read = (text: string) => text === 'true' || (text === 'false' ? false : null);
  return parameter(description, { type: 'boolean' }, read, noneOf(['true', 'false']));
}

export function timeQuery(description: string): Optional<string, number> {
  return parameter(description, TIME, timeOf, { code: 'not-a-time' });
}

/** @param schema their description, where it is one of its own */
export function choiceQuery<T extends string>(
  values: readonly T[],
  description: string,
  schema: Schema<T> = { type: 'string', enum: values },
): Optional<T, T> {
  const read = (text: string) => values.find((value) => value === text) ?? null;
  return parameter(description, schema, read, noneOf(values));
}

/** A place in a list, opaque to clients: JSON in base64url. @param placeOf null: it is a place in another list, or none */
export function cursorQuery<T>(description: string, placeOf: (json: unknown) => T | null): Optional<string, T> {
  const schema = { type: 'string', pattern: BASE64URL.source, maxLength: MAX_CURSOR_CHARACTERS };
  return parameter(
    description,
    schema,
    (text) => placeOf(jsonIn(text)),
    mustBe('a cursor of an earlier page, in the same direction'),
  );
}

export function cursorOf(place: unknown): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url');
}

const BASE64URL = /^[\w-]+$/;
/** Length of a cursor for `after` with 256 partitions: the number of each, and two numbers of up to 16 digits. */
const MAX_CURSOR_CHARACTERS = 13_522;

function jsonIn(text: string): unknown {
  // The decoder silently drops characters that are not base64url.
  if (text.length > MAX_CURSOR_CHARACTERS || !BASE64URL.test(text)) return null;
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString());
  } catch {
    return null;
  }
}

export function mustBe(why: string) {
  return { code: 'malformed', params: { why } } as const;
}

export function noneOf(allowed: readonly string[]) {
  return { code: 'not-one-of', params: { allowed } } as const;
}

const PAGE_SIZE = 50;
const MOST_IN_A_PAGE = 200;

export const PAGE_LIMIT: Parameter<number, number, number> = {
  description: 'The maximum number of entries on a page.',
  schema: { type: 'integer', minimum: 1, maximum: MOST_IN_A_PAGE, default: PAGE_SIZE },
  read: (text) => (/^[1-9]\d{0,2}$/.test(text) && Number(text) <= MOST_IN_A_PAGE ? Number(text) : null),
  problem: { code: 'out-of-range', params: { minimum: 1, maximum: MOST_IN_A_PAGE } },
  absent: PAGE_SIZE,
};

export function webhookIdQuery(description: string): Optional<number, number> {
  const schema = { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER };
  return parameter(description, schema, webhookIdIn, mustBe('the id of a webhook'));
}

export function eventTypeQuery(description: string) {
  return choiceQuery(EVENT_TYPES, description, EVENT_TYPE);
}

const ERROR_CODE = /^[a-z][a-z-]{0,63}$/;
const errorsOf = (text: string) => (ERROR_CODE.test(text) ? codesShownAs(text) : null);

/** Of deliveries, and of events, by their deliveries. */
export const FILTERS = {
  eventType: eventTypeQuery('Only for events of this type.'),
  eventId: textQuery('Only for the payment event with this id.'),
  status: choiceQuery(
    STATUS_CLASSES,
    "Only where a delivery's last attempt has a status that begins with this digit; `none`: has none.",
  ),
  error: parameter(
    "Only where a delivery's last attempt has this `error`.",
    { type: 'string', pattern: ERROR_CODE.source },
    errorsOf,
    mustBe('a code like timeout'),
  ),
  from: timeQuery('Only for events that were published at this time (ISO 8601) or later.'),
  to: timeQuery('Only for events that were published before this time (ISO 8601).'),
};

export function webhookIdIn(text: string): number | null {
  return /^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : null;
}

/** In a query, an unencoded plus is a space; only an offset can contain one here. */
function timeOf(text: string): number | null {
  return readTime(text.replace(' ', '+'));
}
