/**
 * A test event: generated here, sent once to one URL at once like a delivery, and never retried. One at a time per
 * endpoint and few in all, so that nobody keeps this service or a receiver busy with them.
 */
import type { TraceContext } from '../../observability/trace-context.js';
import type { TestOutcome } from '../../ports/test-outcome.js';
import type { Webhook } from '../../webhooks/state.js';
import { type EndpointKey, endpointKey } from '../isolation/endpoint-key.js';
import type { Attempt } from './attempt.js';
import type { DeliverySecrets } from './delivery-secrets.js';

const MOST_AT_ONCE = 16;
const MOST_OF_AN_ACCOUNT = 4;

export interface TestEventParts {
  readonly attempt: Attempt;
  readonly configuration: DeliverySecrets;
  readonly newId: () => string;
  /** ms since the epoch */
  readonly now: () => number;
  /** Aborted when tests in progress must end. */
  readonly interrupt: AbortSignal;
}

/**
 * @param trace the trace of the request that asked for the test
 * @throws the errors of opening the configuration
 */
export type SendTestEvent = (accountId: number, webhook: Webhook, trace?: TraceContext | null) => Promise<TestOutcome>;

export function createSendTestEvent(parts: TestEventParts): SendTestEvent {
  const underWay = new UnderWay();
  return async (accountId, webhook, trace = null) => {
    if (!underWay.enter(accountId, webhook.endpoint)) return { kind: 'busy' };
    try {
      return await send(parts, accountId, webhook, trace);
    } finally {
      underWay.leave(accountId, webhook.endpoint);
    }
  };
}

async function send(
  parts: TestEventParts,
  accountId: number,
  webhook: Webhook,
  trace: TraceContext | null,
): Promise<TestOutcome> {
  const unique = parts.newId();
  const timestamp = new Date(parts.now()).toISOString();
  const event = { id: `test_${unique}`, type: webhook.eventType, accountId, timestamp, data: { test: true } };
  const id = `msg_${unique}`;
  const made = await parts.attempt({
    accountId,
    url: webhook.endpoint,
    id,
    body: Buffer.from(JSON.stringify(event)),
    headers: parts.configuration.headers(accountId, webhook),
    secrets: await parts.configuration.secrets(accountId),
    signal: parts.interrupt,
    trace,
  });
  if (made.kind === 'interrupted') return { kind: 'interrupted' };
  const { status, error, durationMs } = made;
  return { kind: 'sent', result: { id, success: made.kind === 'delivered', status, error, durationMs } };
}

class UnderWay {
  readonly #endpoints = new Set<EndpointKey>();
  readonly #accounts = new Map<number, number>();

  /** False if too many tests are running. */
  enter(accountId: number, endpoint: string): boolean {
    const key = endpointKey(accountId, endpoint);
    const ofAccount = this.#accounts.get(accountId) ?? 0;
    if (this.#endpoints.size >= MOST_AT_ONCE || ofAccount >= MOST_OF_AN_ACCOUNT) return false;
    if (this.#endpoints.has(key)) return false;
    this.#endpoints.add(key);
    this.#accounts.set(accountId, ofAccount + 1);
    return true;
  }

  leave(accountId: number, endpoint: string): void {
    this.#endpoints.delete(endpointKey(accountId, endpoint));
    const left = (this.#accounts.get(accountId) ?? 0) - 1;
    if (left > 0) this.#accounts.set(accountId, left);
    else this.#accounts.delete(accountId);
  }
}
