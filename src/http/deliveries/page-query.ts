/** The query of a page of deliveries. Unknown parameters are ignored; a known but invalid one is a 400. */
import type { ParsedUrlQuery } from 'node:querystring';
import { codesShownAs } from '../../endpoints/failure.js';
import { type DeliveriesQuery, type DeliveryPlace, STATUS_CLASSES } from '../../ports/deliveries-view.js';
import { OUTCOMES } from '../../ports/delivery-order.js';
import { readTime } from '../../time/iso-time.js';
import { EVENT_TYPES } from '../../webhooks/limits.js';
import { badRequest, type FieldError, fieldError } from '../api-error.js';

export const PAGE_SIZE = 50;
export const MOST_IN_A_PAGE = 200;

export const BASE64URL = /^[\w-]+$/;
export const ERROR_CODE = /^[a-z][a-z-]{0,63}$/;
export const NO_TIME = 'must be a time like 2026-11-21T09:00:00Z';
export const NO_LIMIT = `must be a whole number from 1 to ${MOST_IN_A_PAGE}`;
const PLACE = /^(\d{1,16})\.([!-~]{1,128}) ([!-~]{0,400})$/;

export type PageQuery = Pick<DeliveriesQuery, 'limit' | 'before' | 'outcome' | 'held' | 'from' | 'to'>;

export const NO_FILTERS = { eventType: null, eventId: null, status: null, errors: null } as const;

export type Read = <T>(name: string, parse: (text: string) => T | null, predicate: string) => T | null;

interface Period {
  readonly from?: number | null;
  readonly to?: number | null;
}

/** @throws ApiError 400 that names every wrong parameter */
export function pageQuery(query: ParsedUrlQuery): PageQuery {
  return readQuery(query, pageOf);
}

/** @throws ApiError 400 that names every wrong parameter */
export function filteredQuery(query: ParsedUrlQuery): DeliveriesQuery {
  return readQuery(query, (read) => ({
    ...pageOf(read),
    ...filtersOf(read),
  }));
}

/** Of deliveries and of events. */
export function filtersOf(read: Read) {
  return {
    webhookId: read('webhookId', webhookIdIn, 'must be the id of a webhook'),
    eventType: read('eventType', oneOf(EVENT_TYPES), `must be one of ${EVENT_TYPES.join(', ')}`),
    eventId: read('eventId', anyText, 'must be given once'),
    status: read('status', oneOf(STATUS_CLASSES), `must be one of ${STATUS_CLASSES.join(', ')}`),
    errors: read('error', errorsOf, 'must be a code like timeout'),
  };
}

export function readQuery<T extends object>(query: ParsedUrlQuery, ask: (read: Read) => T): T {
  const problems: FieldError[] = [];
  const asked = ask((name, parse, predicate) => {
    const given = query[name];
    if (given === undefined) return null;
    const value = typeof given === 'string' ? parse(given) : null;
    if (value === null) problems.push(fieldError(name, predicate));
    return value;
  });
  const { from = null, to = null }: Period = asked;
  if (from !== null && to !== null && from > to) {
    problems.push(fieldError('from', 'must not be later than to'));
  }
  if (problems.length > 0) throw badRequest(problems);
  return asked;
}

function pageOf(read: Read): PageQuery {
  return {
    limit: read('limit', limitOf, NO_LIMIT) ?? PAGE_SIZE,
    before: read('before', placeOf, 'must be the next of an earlier page'),
    outcome: read('outcome', oneOf(OUTCOMES), `must be one of ${OUTCOMES.join(', ')}`),
    held: read('held', flagOf, 'must be true or false'),
    ...periodOf(read),
  };
}

export function periodOf(read: Read) {
  return { from: read('from', timeOf, NO_TIME), to: read('to', timeOf, NO_TIME) };
}

export function limitOf(text: string): number | null {
  return /^[1-9]\d{0,2}$/.test(text) && Number(text) <= MOST_IN_A_PAGE ? Number(text) : null;
}

export function oneOf<T extends string>(values: readonly T[]): (text: string) => T | null {
  return (text) => values.find((value) => value === text) ?? null;
}

export function anyText(text: string): string {
  return text;
}

function flagOf(text: string): boolean | null {
  return text === 'true' || (text === 'false' ? false : null);
}

export function webhookIdIn(text: string): number | null {
  return /^[1-9]\d{0,15}$/.test(text) ? Number(text) : null;
}

function errorsOf(text: string): readonly string[] | null {
  return ERROR_CODE.test(text) ? codesShownAs(text) : null;
}

function placeOf(text: string): DeliveryPlace | null {
  const [, firstAt, id = '', payment = ''] = PLACE.exec(decoded(text)) ?? [];
  return firstAt === undefined ? null : { firstAt: Number(firstAt), id, payment };
}

/** Of base64url, in latin1; empty for any other text. */
export function decoded(text: string): string {
  // The decoder silently drops characters that are not base64url.
  return BASE64URL.test(text) ? Buffer.from(text, 'base64url').toString('latin1') : '';
}

/** In a query, an unencoded plus is a space; only an offset can contain one here. */
export function timeOf(text: string): number | null {
  return readTime(text.replace(' ', '+'));
}
