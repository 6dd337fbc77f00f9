import { ChangeTable } from '../history/change-table.js';
import { staleness } from '../parts/freshness.js';
import { Skeleton } from '../parts/skeleton.js';
import { addressOf } from '../state/addresses.js';
import { useChanges } from '../state/changes.js';
import type { Webhook } from '../state/webhooks.js';
import { webhookTexts } from '../texts/webhooks.js';

const SHOWN = 10;

/** The latest changes of a webhook; each leads to the list as it stood after it. */
export function Versions({ webhook: { id, createdAt } }: { webhook: Webhook }) {
  const found = useChanges(createdAt);
  const t = webhookTexts.value.detail;
  const changes = found.data?.changes.filter(({ webhookId }) => webhookId === id).slice(0, SHOWN);
  return (
    <section>
      <header class="card-head">
        <h2>{t.versions}</h2>
        <a href={addressOf('/history')}>{t.history}</a>
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
