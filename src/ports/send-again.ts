/** Sending deliveries again, from the API to deliveries. */
import type { DeliveryDetail } from './deliveries-view.js';

/** By whom, and within which recovery. */
export type SendAgainRequest =
  | { readonly trigger: 'resend'; readonly actor: string }
  | { readonly trigger: 'recover'; readonly actor: string; readonly recovery: string };

/** Of a delivery, beside those of the schedule: the view stores all of them with it, anew at each attempt. */
export const MOST_RESENDS = 100;

/**
 * gone: the payment's topic no longer has its record. inactive: its webhook is not active, or was removed. too-often: it has
 * MOST_RESENDS attempts beside those of the schedule. refused: the tier never accepts the record.
 */
export type SentAgain = 'put-back' | 'gone' | 'inactive' | 'too-often' | 'refused';

/** @throws BrokerUnavailable, StoreUnavailable: repeating it is safe */
export type SendAgain = (known: DeliveryDetail, asked: SendAgainRequest) => Promise<SentAgain>;

/** The record of a recovery. Its request is in the account's history. */
export interface RecoveryOrder {
  readonly id: string;
  readonly accountId: number;
  readonly webhookId: number;
  readonly actor: string;
}
