/** Gives each attempt a child span of its own. The endpoint may continue the trace from that span's id. */
import { childOf } from '../../observability/trace-context.js';
import type { AttemptSpan, Tracing } from '../../observability/tracing.js';
import type { Attempt, AttemptRequest, AttemptResult } from './attempt.js';

/** @param random from 0 up to, not including, 1 */
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
