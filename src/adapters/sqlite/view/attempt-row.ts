/** An attempt as a row of the view. */
import type { ViewAttempt, ViewEntry } from '../../../ports/deliveries-view.js';
import type { Columns } from './schema.js';

/**
 * number: among those of its delivery, as they came. error, reason, triggered_by and actor are JSON; a reason that is absent is
 * null, and one that is null is JSON's null. response is sealed.
 */
export type AttemptRow = Columns<
  'number' | 'at' | 'has_failed' | 'duration_ms' | 'version',
  never,
  'error' | 'reason' | 'triggered_by' | 'actor' | 'response'
> & { readonly status: number | null };

export function attemptRow({ attempt, response }: ViewEntry, number: number): AttemptRow | null {
  if (!attempt) return null;
  const { at, status, error, durationMs, version, reason, trigger, actor } = attempt;
  return {
    number,
    at: timeOf(at),
    has_failed: Number(answerTo(status) !== 2),
    status,
    error: error === null ? null : JSON.stringify(error),
    duration_ms: durationMs,
    version,
    reason: reason === undefined ? null : JSON.stringify(reason),
    triggered_by: trigger === undefined ? null : JSON.stringify(trigger),
    actor: actor === undefined ? null : JSON.stringify(actor),
    response,
  };
}

/** An entry may have any text with the form of a time. */
function timeOf(at: string): number {
  return Date.parse(at) || 0;
}

/** The first digit of the status; 0: none came. */
export function answerTo(status: number | null): number {
  return status === null ? 0 : Math.floor(status / 100);
}

/** The known attempt with the same content: one may be in the topic twice. */
export function sameAs(all: readonly AttemptRow[], added: AttemptRow): AttemptRow | undefined {
  return all.find((one) => one.at === added.at && contentOf(one) === contentOf(added));
}

/** As they began. */
export function inOrder(all: readonly AttemptRow[]): AttemptRow[] {
  if (all.length < 2) return [...all];
  return all.toSorted((one, other) => one.at - other.at || (contentOf(one) < contentOf(other) ? -1 : 1));
}

export function attemptOf(row: AttemptRow): ViewAttempt {
  const { at, status, error, reason, duration_ms: durationMs, version, triggered_by: trigger, actor } = row;
  return {
    at: new Date(at).toISOString(),
    status,
    error: parsed(error),
    ...(reason !== null && { reason: JSON.parse(reason) as string | null }),
    durationMs,
    version,
    ...(trigger !== null && { trigger: JSON.parse(trigger) as string }),
    ...(actor !== null && { actor: JSON.parse(actor) as string }),
  };
}

/** @param stored text as JSON @throws SyntaxError if the view is damaged */
export function parsed(stored: string | null): string | null {
  return stored === null ? null : (JSON.parse(stored) as string);
}

function contentOf({ status, error, duration_ms, version, reason, triggered_by, actor }: AttemptRow): string {
  return JSON.stringify([status, error, duration_ms, version, reason, triggered_by, actor]);
}
