import { DeliveryTable } from '../deliveries/delivery-table.js';
import { ResendSelected } from '../deliveries/resend-selected.js';
import { useSelection } from '../deliveries/use-selection.js';
import { Skeleton } from '../parts/skeleton.js';
import { addressOf } from '../state/addresses.js';
import { useGot } from '../state/polled.js';
import { texts } from '../texts/texts.js';
import { webhookTexts } from '../texts/webhooks.js';

const SHOWN = 10;

export function LastDeliveries({ webhookId }: { webhookId: number }) {
  const page = useGot('/api/deliveries', { query: { webhookId, limit: SHOWN } });
  const t = webhookTexts.value.detail;
  const deliveries = page.data?.deliveries;
  const { chosen, choose } = useSelection(String(webhookId), deliveries ?? []);
  return (
    <section>
      <header class="card-head">
        <h2>{t.deliveries}</h2>
        <a href={addressOf('/deliveries', { webhookId: String(webhookId) })}>{texts.value.deliveries.all}</a>
      </header>
      {!deliveries ? (
        <Skeleton lines={4} of={page} />
      ) : deliveries.length === 0 ? (
        <p class="muted">{t.noDeliveries}</p>
      ) : (
        <div class="card flush">
          <DeliveryTable deliveries={deliveries} chosen={chosen} onChoose={choose} />
        </div>
      )}
      <ResendSelected chosen={chosen} onChoose={choose} />
    </section>
  );
}
