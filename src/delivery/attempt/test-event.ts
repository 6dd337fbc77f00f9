/**
 * A test event: generated here, sent once to one URL like a delivery, and never retried. One at a time per endpoint, and few
 * per account, so that nobody keeps this service or a receiver busy with them. It is for when things fail, so an open breaker
 * does not stop it; its result counts towards the breakers.
 */
import type { TraceContext } from '../../observability/tracing.js';
import type { TestOutcome } from '../../ports/test-outcome.js';
import type { NoticeTarget } from '../../webhooks/events.js';
import { type EndpointKey, endpointKey } from '../endpoint-key.js';
import type { CircuitBreakers } from '../isolation/circuit-breaker.js';
import type { AttemptRequest, AttemptResult } from './attempt.js';
import { endOf } from './classification.js';
import { type SendParts, sendTo } from './send.js';

/** At a time; the API also limits how many it may ask for in a minute. */
const MOST_OF_AN_ACCOUNT = 4;

export interface TestEventParts extends SendParts {
  /** Those of deliveries. */
  readonly breakers: CircuitBreakers;
  readonly newId: () => string;
  /** ms since the epoch */
  readonly now: () => number;
}

/**
 * @param trace the trace of the request that asked for the test
 * @throws the errors of opening the configuration
 */
export type SendTestEvent = (accountId: number, target: Target, trace?: TraceContext | null) => Promise<TestOutcome>;

type Target = Pick<NoticeTarget, 'endpoint' | 'headers'> & { readonly eventType: string };

export function createSendTestEvent(parts: TestEventParts): SendTestEvent {
  /** With the account of each. */
  const underWay = new Map<EndpointKey, number>();
  return async (accountId, target, trace = null) => {
    const key = endpointKey(accountId, target.endpoint);
    const ofAccount = [...underWay.values()].filter((id) => id === accountId).length;
    if (ofAccount >= MOST_OF_AN_ACCOUNT || underWay.has(key)) return { kind: 'busy' };
    underWay.set(key, accountId);
    let made: AttemptResult | null = null;
    try {
      const id = parts.newId();
      made = await attempt(parts, { id, accountId, trace }, target);
      return outcomeOf(`msg_${id}`, made);
    } finally {
      const end = () => {
        parts.breakers.ended(key, endOf(made).signal);
        underWay.delete(key);
      };
      if (made?.over) void made.over.then(end);
      else end();
    }
  };
}

function attempt(
  parts: TestEventParts,
  { id: unique, accountId, trace = null }: Pick<AttemptRequest, 'id' | 'accountId' | 'trace'>,
  target: Target,
): Promise<AttemptResult> {
  const timestamp = new Date(parts.now()).toISOString();
  const event = { id: `test_${unique}`, type: target.eventType, accountId, timestamp, data: { test: true } };
  const body = Buffer.from(JSON.stringify(event));
  return sendTo(parts, target, { accountId, id: `msg_${unique}`, body, trace, keepsAnswer: true });
}

function outcomeOf(id: string, made: AttemptResult): TestOutcome {
  if (made.kind === 'interrupted') return { kind: 'interrupted' };
  const { status, error, durationMs, response = null } = made;
  const why = made.error === null ? null : { reason: made.reason };
  const expired = made.error === 'tls' && made.expiredCertificate && { expiredCertificate: made.expiredCertificate };
  return {
    kind: 'sent',
    result: {
      id,
      success: made.kind === 'delivered',
      status,
      error,
      ...why,
      ...(expired || null),
      durationMs,
      response,
    },
  };
}
