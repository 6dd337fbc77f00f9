/** A delivery's webhook, according to the current read model. */
import { StreamHidden } from '../ports/event-store.js';
import type { Accounts } from '../read-model/accounts.js';
import type { WasRemoved } from '../read-model/removed-webhooks.js';
import type { NoticeTarget } from '../webhooks/events.js';
import type { Webhook } from '../webhooks/state.js';
import type { DeliveryProgress } from './delivery-progress.js';

export type Recipient = { readonly kind: 'active'; readonly webhook: Webhook } | Unsent;

/** The account or the service deactivated the webhook, or it was removed. */
export type OffBy = 'account' | 'service' | 'removal';

/** Nothing is sent. */
export type Unsent =
  | { readonly kind: 'inactive'; readonly by: OffBy }
  /** The id belongs to another webhook, added by the event `addedBy`; null: no webhook ever had the id. */
  | { readonly kind: 'other-history'; readonly addedBy: string | null }
  /** An event of the account can't be read, so its configuration is unknown. */
  | { readonly kind: 'account-unreadable'; readonly why: string };

type KnownAccounts = Pick<Accounts, 'webhook' | 'unreadable' | 'noticeTarget'>;

/** By the read model alone. If it lacks the webhook, the account's stream tells more. */
type Lookup = Recipient | { readonly kind: 'unknown' };

/** After the read model's confirmation. @throws StoreUnavailable */
export async function confirmedRecipientOf(
  delivery: DeliveryProgress,
  accounts: KnownAccounts,
  wasRemoved: WasRemoved,
): Promise<Recipient> {
  const known = recipientOf(delivery, accounts);
  if (known.kind !== 'unknown') return known;
  try {
    const isRemoved = await wasRemoved(delivery.accountId, delivery.webhookId);
    return isRemoved ? { kind: 'inactive', by: 'removal' } : { kind: 'other-history', addedBy: null };
  } catch (error) {
    if (!(error instanceof StreamHidden)) throw error;
    return { kind: 'account-unreadable', why: error.message };
  }
}

/** The id alone does not name a webhook: another history may have given it to another one. */
export function recipientOf(delivery: DeliveryProgress, accounts: KnownAccounts): Lookup {
  const { accountId, webhookId, webhookEvent, isNotice } = delivery;
  const why = accounts.unreadable(accountId);
  if (why !== null) return { kind: 'account-unreadable', why };
  const webhook = accounts.webhook(accountId, webhookId);
  if (isNotice) return noticeRecipient(webhook, accounts.noticeTarget(accountId));
  if (!webhook) return { kind: 'unknown' };
  const { addedBy, isActive, offBy = 'account' } = webhook;
  if (webhookEvent !== addedBy) return { kind: 'other-history', addedBy };
  return isActive ? { kind: 'active', webhook } : { kind: 'inactive', by: offBy };
}

/** The webhook as it is, at the URL of the account's notices. A notice about that URL itself would cause the next one. */
function noticeRecipient(webhook: Webhook | undefined, target: NoticeTarget | undefined): Recipient {
  if (!target || !webhook || webhook.endpoint === target.endpoint) return { kind: 'inactive', by: 'removal' };
  return { kind: 'active', webhook: { ...webhook, endpoint: target.endpoint, headers: target.headers } };
}
