/**
 * A test event: generated here, sent once to one URL like a delivery, and never retried. One at a time per endpoint, few
 * per account, and few begin per second, so that nobody keeps this service or a receiver busy with them. It is for when
 * things fail, so an open breaker does not stop it; its result counts towards the breakers.
 */
import type { TraceContext } from '../../observability/tracing.js';
import type { TestOutcome } from '../../ports/test-outcome.js';
import type { NoticeTarget } from '../../webhooks/events.js';
import { type EndpointKey, endpointKey } from '../endpoint-key.js';
import type { CircuitBreakers } from '../isolation/circuit-breaker.js';
import type { AttemptRequest, AttemptResult } from './attempt.js';
import { endOf } from './classification.js';
import { type SendParts, sendTo } from './send.js';

/** Slots, each held for a second at most: four accounts whose URLs hang would keep all of them for the deadline. */
const SLOTS = 16;
const SLOT_MS = 1_000;
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
  const underWay = new UnderWay();
  return async (accountId, target, trace = null) => {
    const key = endpointKey(accountId, target.endpoint);
    const leave = underWay.enter(accountId, key);
    if (!leave) return { kind: 'busy' };
    let made: AttemptResult | null = null;
    try {
      const id = parts.newId();
      made = await attempt(parts, { id, accountId, trace }, target);
      return outcomeOf(`msg_${id}`, made);
    } finally {
      const end = () => {
        parts.breakers.ended(key, endOf(made).signal);
        leave();
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
  return {
    kind: 'sent',
    result: { id, success: made.kind === 'delivered', status, error, ...why, durationMs, response },
  };
}

class UnderWay {
  #slots = 0;
  /** With the account of each. */
  readonly #endpoints = new Map<EndpointKey, number>();

  /** @returns to be called when the test has ended; null: too many tests are running */
  enter(accountId: number, key: EndpointKey): (() => void) | null {
    const ofAccount = [...this.#endpoints.values()].filter((id) => id === accountId).length;
    if (this.#slots >= SLOTS || ofAccount >= MOST_OF_AN_ACCOUNT || this.#endpoints.has(key)) return null;
    this.#endpoints.set(key, accountId);
    const freeSlot = this.#takeSlot();
    return () => {
      freeSlot();
      this.#endpoints.delete(key);
    };
  }

  #takeSlot(): () => void {
    this.#slots += 1;
    let isHeld = true;
    const free = () => {
      clearTimeout(timer);
      if (isHeld) this.#slots -= 1;
      isHeld = false;
    };
    const timer = setTimeout(free, SLOT_MS);
    return free;
  }
}
