/** Attempts in their trace: each is a child of its own there, by whose id the endpoint may go on. */
import { childOf } from '../../observability/trace-context.js';
import type { AttemptSpan, Tracing } from '../../observability/tracing.js';
import type { Attempt, AttemptRequest, AttemptResult } from './attempt.js';

/** @param random from 0 to below 1 */
export function tracedAttempt(attempt: Attempt, tracing: Pick<Tracing, 'attempt'>, random: () => number): Attempt {
  return (request) => {
    const span = tracing.attempt(request);
    if (span) return inSpan(span, attempt, request);
    return request.trace ? attempt({ ...request, trace: childOf(request.trace, random) }) : attempt(request);
  };
}

async function inSpan(span: AttemptSpan, attempt: Attempt, request: AttemptRequest): Promise<AttemptResult> {
  const result = await attempt({ ...request, trace: span.context });
  span.end(result.status, result.kind === 'interrupted' ? 'interrupted' : result.error);
  return { ...result, span: span.context };
}
