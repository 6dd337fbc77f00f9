/** Which deliveries a recovery sends: from the query of a preview, or from the body of a start. */
import type { ParsedUrlQuery } from 'node:querystring';
import { RECOVERABLE, type Recoverable } from '../../ports/deliveries-view.js';
import { badRequest, type FieldError, fieldError } from '../api-error.js';
import { timeOf } from '../deliveries/page-query.js';
import { TIME } from '../shared-schemas.js';

export const SINCE = {
  ...TIME,
  description: 'Deliveries of events that were published at this time (ISO 8601) or later.',
} as const;

export const UNTIL = {
  ...TIME,
  description: 'Deliveries of events that were published before this time. By default, the time of the request.',
} as const;

export const INCLUDE = {
  type: 'array',
  minItems: 1,
  items: { enum: RECOVERABLE },
  description:
    '`exhausted`: given up after failed attempts. `held`: given up because the service had deactivated the webhook. `retrying`: waiting for the next attempt. By default, all three.',
} as const;

export interface Span {
  /** ms since the epoch; since is inclusive, until is exclusive. */
  readonly since: number;
  readonly until: number;
  readonly include: readonly Recoverable[];
}

interface Given {
  readonly since?: unknown;
  readonly until?: unknown;
  readonly include?: readonly string[] | undefined;
}

/** @throws ApiError 400 that names every wrong parameter */
export function queriedSpan({ since, until, include }: ParsedUrlQuery, now: number): Span {
  return checkedSpan({ since, until, include: typeof include === 'string' ? include.split(',') : include }, now);
}

/** @throws ApiError 400 that names every wrong field */
export function checkedSpan({ since, until, include = RECOVERABLE }: Given, now: number): Span {
  const problems: FieldError[] = [];
  const time = (field: string, given: unknown) => {
    const ms = typeof given === 'string' ? timeOf(given) : null;
    if (ms === null) problems.push(fieldError(field, 'must be a time like 2026-11-21T09:00:00Z'));
    return ms ?? 0;
  };
  if (since === undefined) problems.push(fieldError('since', 'is missing'));
  const from = since === undefined ? 0 : time('since', since);
  const to = until === undefined ? now : time('until', until);
  if (problems.length === 0 && until !== undefined && to <= from) {
    problems.push(fieldError('until', 'must be later than since'));
  }
  const wanted = RECOVERABLE.filter((kind) => include.includes(kind));
  if (wanted.length === 0 || include.some((one) => !wanted.some((kind) => kind === one))) {
    problems.push(fieldError('include', `must be one or more of ${RECOVERABLE.join(', ')}`));
  }
  if (problems.length > 0) throw badRequest(problems);
  // What is published after the request goes its usual way.
  return { since: from, until: Math.min(to, now), include: wanted };
}
