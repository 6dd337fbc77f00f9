import { foldNext } from '../../../src/read-model/fold.js';
import { loadProjection } from '../../../src/read-model/projection-source.js';
import type { StoredAccountEvent } from '../../../src/webhooks/events.js';
import type { AccountWebhooks } from '../../../src/webhooks/state.js';

const projection = loadProjection('account-webhooks');

/** The state after the event; `before` stays as it is. */
export function foldWebhooks(before: AccountWebhooks, event: StoredAccountEvent): AccountWebhooks {
  const data = event.data as unknown as Record<string, unknown>;
  const recorded = { ...event, data, stream: 'account-42', revision: 1, position: '', metadata: {} };
  const folded = foldNext(projection, { state: before, revision: 0, eventId: '' }, recorded);
  if ('why' in folded) throw new Error(folded.why);
  return folded.state;
}
