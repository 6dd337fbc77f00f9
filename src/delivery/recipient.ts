/** The webhook that a delivery is for, as the read model has it at that moment. */
import type { Accounts } from '../read-model/accounts.js';
import type { WasRemoved } from '../read-model/removed-webhooks.js';
import type { Webhook } from '../webhooks/state.js';
import type { Delivery } from './delivery.js';

export type Recipient = { readonly kind: 'active'; readonly webhook: Webhook } | Unsent;

/** Nothing is sent. */
export type Unsent =
  /** Switched off, by the service or by its account; or removed, which is the account's doing. */
  | { readonly kind: 'inactive'; readonly by: 'account' | 'service' }
  /** The webhook under the id is another one, which the event `addedBy` added; null: no webhook ever had the id. */
  | { readonly kind: 'other-history'; readonly addedBy: string | null }
  /** An event of the account can't be read, so nothing is known of it. */
  | { readonly kind: 'account-unreadable'; readonly why: string };

/** As far as the read model knows: of a webhook that it does not have, the account's stream tells more. */
type Known = Recipient | { readonly kind: 'unknown' };

/** Once the read model is confirmed. @throws StoreUnavailable */
export async function confirmedRecipientOf(
  delivery: Delivery,
  accounts: Pick<Accounts, 'webhook' | 'unreadable'>,
  wasRemoved: WasRemoved,
): Promise<Recipient> {
  const known = recipientOf(delivery, accounts);
  if (known.kind !== 'unknown') return known;
  const isRemoved = await wasRemoved(delivery.accountId, delivery.webhookId);
  return isRemoved ? { kind: 'inactive', by: 'account' } : { kind: 'other-history', addedBy: null };
}

/** A record of an earlier release does not say which event added its webhook: the id has to do. */
export function recipientOf(delivery: Delivery, accounts: Pick<Accounts, 'webhook' | 'unreadable'>): Known {
  const { accountId, webhookId, webhookEvent } = delivery;
  const why = accounts.unreadable(accountId);
  if (why !== null) return { kind: 'account-unreadable', why };
  const webhook = accounts.webhook(accountId, webhookId);
  if (!webhook) return { kind: 'unknown' };
  const { addedBy, isActive, offBy = 'account' } = webhook;
  if (webhookEvent !== null && webhookEvent !== addedBy) return { kind: 'other-history', addedBy };
  return isActive ? { kind: 'active', webhook } : { kind: 'inactive', by: offBy };
}
