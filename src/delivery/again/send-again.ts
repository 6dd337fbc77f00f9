/**
 * Sends a delivery again, as its account asked: one attempt more for a delivery that has ended, or the next attempt now for
 * one that waits. A payment that its webhook missed begins as any other, with all attempts. Only the request is written
 * (request.ts), with the payment as its topic has it; a dispatcher makes the attempt.
 */
import { type Requester, requester } from '../../limits/user-limits.js';
import { parsePaymentEvent } from '../../payments/payment-event.js';
import { type Broker, heldBytes } from '../../ports/broker.js';
import type { PublishedPayloads } from '../../ports/published-payloads.js';
import { type CancelDelivery, MOST_REQUESTS, type SendAgain, type Sendable } from '../../ports/send-again.js';
import type { Accounts } from '../../read-model/accounts.js';
import type { AccountWebhooks } from '../../webhooks/state.js';
import { type Delivery, newDelivery } from '../delivery.js';
import type { Delay } from '../retry/retry-schedule.js';
import type { Topics } from '../topics.js';
import { publishRequest, toCancellation, toRequest } from './request.js';

export interface SendAgainParts {
  readonly broker: Pick<Broker, 'publish'>;
  readonly payloads: Pick<PublishedPayloads, 'record'>;
  readonly topics: Pick<Topics, 'requests'>;
  readonly accounts: Pick<Accounts, 'webhooks' | 'webhooksNow'>;
  readonly schedule: readonly [Delay, ...Delay[]];
  /** Takes bytes if they are available. @returns ms until they are; 0: they were taken */
  readonly budget: { take(requester: Requester, bytes: number): number };
}

/** The request, and the retry record or dead letter of its attempt. */
const COPIES = 2;

export function createSendAgain(parts: SendAgainParts): SendAgain {
  const { accounts, schedule, budget } = parts;
  return async (known, asked, by) => {
    const { accountId, outcome, step } = known;
    if (known.requests >= MOST_REQUESTS) return { kind: 'sent-too-often', params: { limit: MOST_REQUESTS } };
    // A recovery is in the read model with its webhooks: a look into the store for each of thousands would tell no more.
    const isActive =
      hasActive(await accounts.webhooks(accountId), known) ||
      (asked.trigger === 'resend' && hasActive(await accounts.webhooksNow(accountId), known));
    if (!isActive) return { kind: 'webhook-inactive' };
    const begun = await published(parts, known);
    if (!begun) return { kind: 'payload-gone' };
    const delivery = { ...begun, step: outcome === 'retrying' ? (step ?? 0) : schedule.length };
    const retryAfterMs = budget.take(by ?? requester(accountId, asked.actor), COPIES * heldBytes(begun.record));
    if (retryAfterMs > 0) return { kind: 'too-much-sent-again', retryAfterMs };
    await publishRequest(parts, toRequest(delivery, asked));
    return { kind: 'accepted' };
  };
}

export function createCancelDelivery(parts: Pick<SendAgainParts, 'broker' | 'topics' | 'budget'>): CancelDelivery {
  return async (publications, actor, by) => {
    const record = toCancellation(publications, actor);
    const retryAfterMs = parts.budget.take(by, heldBytes(record));
    if (retryAfterMs > 0) return { kind: 'too-much-sent-again', retryAfterMs };
    await publishRequest(parts, record);
    return { kind: 'accepted' };
  };
}

function hasActive(account: AccountWebhooks | undefined, { webhookId, webhookEvent }: Sendable): boolean {
  const webhook = account?.webhooks.find(({ id }) => id === webhookId);
  return webhook?.addedBy === webhookEvent && webhook.isActive;
}

/** As when its payment was routed; null if the payment's topic has lost it, or was recreated. */
async function published({ payloads }: Pick<SendAgainParts, 'payloads'>, known: Sendable): Promise<Delivery | null> {
  const { id, payment, webhookId, webhookEvent } = known;
  const record = payment === null ? null : await payloads.record(payment);
  if (!record) return null;
  const parsed = parsePaymentEvent(record);
  const delivery = parsed.ok ? newDelivery(parsed.event, { id: webhookId, addedBy: webhookEvent }, record) : null;
  return delivery?.id === id ? delivery : null;
}
