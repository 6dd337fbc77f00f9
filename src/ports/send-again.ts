/** Sending deliveries again, and cancelling them: from the API to deliveries. */
import type { Requester } from '../limits/user-limits.js';
import type { ViewedDelivery } from './deliveries-view.js';

/** By whom, and within which recovery. */
export type SendAgainRequest =
  | { readonly trigger: 'resend'; readonly actor: string }
  | { readonly trigger: 'recover'; readonly actor: string; readonly recovery: string };

/** Of a delivery, by its account: the view stores all attempts with it, anew at each. */
export const MOST_REQUESTS = 100;

/** The request is durable: its chain begins, and ends what waited. */
type Accepted = { readonly kind: 'accepted' };

/** What the account's calls make the service keep is too much for now. */
interface OverBudget {
  readonly kind: 'too-much-sent-again';
  /** Until there is as much. */
  readonly retryAfterMs: number;
}

/**
 * Each refusal is a code of the API. payload-gone: the payment's topic no longer has its record. webhook-inactive: its
 * webhook is not active, or was removed. sent-too-often: it was sent again MOST_REQUESTS times.
 */
export type SentAgain =
  | Accepted
  | OverBudget
  | { readonly kind: 'payload-gone' | 'webhook-inactive' }
  | { readonly kind: 'sent-too-often'; readonly params: { readonly limit: number } };

/** A delivery; or a payment that was never sent to the webhook, as if it waited for its first attempt. */
export type Sendable = Pick<
  ViewedDelivery,
  'accountId' | 'id' | 'webhookId' | 'webhookEvent' | 'payment' | 'outcome' | 'step' | 'requests'
>;

/** @param by whom limits count; by default the actor @throws BrokerUnavailable, StoreUnavailable: repeating it makes one attempt more */
export type SendAgain = (known: Sendable, asked: SendAgainRequest, by?: Requester) => Promise<SentAgain>;

/** Of one event to one webhook, newest first. */
export type Publications = readonly [ViewedDelivery, ...ViewedDelivery[]];

/** Ends those that wait. @throws BrokerUnavailable: repeating it is safe */
export type CancelDelivery = (
  publications: Publications,
  actor: string,
  by: Requester,
) => Promise<Accepted | OverBudget>;
