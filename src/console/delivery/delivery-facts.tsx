import type { DetailedDelivery } from '../api/shapes.js';
import { Copied } from '../parts/copy-button.js';
import { Fact } from '../parts/fact.js';
import { TimeText } from '../parts/time-text.js';
import { addressOf } from '../state/addresses.js';
import type { Webhook } from '../state/webhooks.js';
import { texts } from '../texts/texts.js';

export function DeliveryFacts({ delivery, webhook }: { delivery: DetailedDelivery; webhook: Webhook | null }) {
  const t = texts.value.delivery.facts;
  const url = webhook?.url ?? delivery.attempts.at(-1)?.url;
  return (
    <section class="card">
      <dl class="facts">
        <Fact name={t.url}>{url ? <Copied value={url} what={t.url} /> : t.removed(delivery.webhookId)}</Fact>
        <Fact name={t.eventId}>
          <Copied value={delivery.eventId} what={t.eventId} />
          <a href={addressOf('/deliveries', { eventId: delivery.eventId })}>{t.allOfEvent}</a>
        </Fact>
        <Fact name="webhook-id">
          <Copied value={delivery.id} what="webhook-id" />
        </Fact>
        <Fact name={t.eventType}>
          <code>{delivery.eventType}</code>
        </Fact>
        {delivery.publishedAt && (
          <Fact name={texts.value.deliveries.published}>
            <TimeText at={delivery.publishedAt} />
          </Fact>
        )}
      </dl>
    </section>
  );
}
