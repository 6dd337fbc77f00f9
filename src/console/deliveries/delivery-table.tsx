import { useLocation } from 'preact-iso/router';
import type { ListedDelivery } from '../api/shapes.js';
import { deliveryAddress } from '../state/addresses.js';
import { may } from '../state/session.js';
import { useWebhooks } from '../state/webhooks.js';
import { texts } from '../texts/texts.js';
import { DeliveryRow } from './delivery-row.js';

interface TableParts {
  readonly deliveries: readonly ListedDelivery[];
  readonly chosen: ReadonlySet<string>;
  readonly onChoose: (ids: ReadonlySet<string>) => void;
}

export function DeliveryTable({ deliveries, chosen, onChoose }: TableParts) {
  const t = texts.value.deliveries;
  const { query } = useLocation();
  const webhooks = useWebhooks().data?.webhooks;
  const urlOf = (webhookId: number) => webhooks && (webhooks.find(({ id }) => id === webhookId)?.url ?? null);
  const isChoosable = may('resend');
  const ids = deliveries.map(({ id }) => id);
  const all = ids.length > 0 && ids.every((id) => chosen.has(id));
  const toggle = (id: string) =>
    onChoose(new Set(chosen.has(id) ? [...chosen].filter((one) => one !== id) : [...chosen, id]));
  return (
    <table class="rows deliveries">
      <thead>
        <tr>
          {isChoosable && (
            <th class="choose">
              <input
                type="checkbox"
                aria-label={t.chooseAll}
                checked={all}
                onChange={() => onChoose(all ? new Set() : new Set(ids))}
              />
            </th>
          )}
          <th>{t.outcome}</th>
          <th>{t.event}</th>
          <th>{t.webhook}</th>
          <th>{t.lastAnswer}</th>
          <th class="end">{t.attempts}</th>
          <th>{t.published}</th>
        </tr>
      </thead>
      <tbody>
        {deliveries.map((delivery) => (
          <DeliveryRow
            key={`${delivery.id} ${delivery.publishedAt}`}
            delivery={delivery}
            href={deliveryAddress(delivery.id, query)}
            url={urlOf(delivery.webhookId)}
            isChosen={isChoosable ? chosen.has(delivery.id) : null}
            onToggle={() => toggle(delivery.id)}
          />
        ))}
      </tbody>
    </table>
  );
}
