import { ChangeTable } from '../history/change-table.js';
import { staleness } from '../parts/freshness.js';
import { Skeleton } from '../parts/skeleton.js';
import { addressOf } from '../state/addresses.js';
import { useChanges } from '../state/changes.js';
import type { Webhook } from '../state/webhooks.js';
import { texts } from '../texts/texts.js';
import { webhookTexts } from '../texts/webhooks.js';

const SHOWN = 10;

/** The latest changes of a webhook; each leads to the list as it stood after it. */
export function Versions({ webhook: { id, createdAt } }: { webhook: Webhook }) {
  const found = useChanges(createdAt);
  const changes = found.data?.changes.filter(({ webhookId }) => webhookId === id).slice(0, SHOWN);
  return (
    <section>
      <header class="card-head">
        <h2>{texts.value.history.changes}</h2>
        <a href={addressOf('/history')}>{webhookTexts.value.detail.history}</a>
      </header>
      {changes ? (
        <div class={`card flush${staleness(found)}`}>
          <ChangeTable changes={changes} at="" />
        </div>
      ) : (
        <Skeleton lines={2} of={found} />
      )}
    </section>
  );
}
