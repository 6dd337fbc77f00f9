import { deadLetterOf } from '../../../src/delivery/dead-letters.js';
import type { Delivery } from '../../../src/delivery/delivery.js';
import type { NewRecord } from '../../../src/ports/broker.js';

export function exhausted(delivery: Delivery, detail: string): NewRecord {
  return deadLetterOf(delivery, { reason: 'exhausted', detail });
}

export function deactivated(delivery: Delivery): NewRecord {
  return deadLetterOf(delivery, { reason: 'deactivated', detail: 'the endpoint answered 410 Gone' });
}

/** @param addedBy the event that added the webhook with this id now */
export function ofOtherHistory(delivery: Delivery, addedBy: string): NewRecord {
  return deadLetterOf(delivery, { reason: 'other-history', detail: `event ${addedBy} added the webhook` });
}

export const UNREADABLE = "account 42 is set aside: event 2 (WebhookUpdated, an id) can't be read: its data has no url";

export function ofUnreadable(delivery: Delivery): NewRecord {
  return deadLetterOf(delivery, { reason: 'account-unreadable', detail: UNREADABLE });
}
