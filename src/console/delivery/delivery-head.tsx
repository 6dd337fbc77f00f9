import type { ComponentChildren } from 'preact';
import type { DetailedDelivery } from '../api/shapes.js';
import { EventName } from '../parts/event-name.js';
import { OutcomeBadge, shownOutcome } from '../parts/outcome-badge.js';
import { Untrusted } from '../parts/untrusted.js';
import { texts } from '../texts/texts.js';

/** What became of it, in one sentence, and what to do about it. */
export function DeliveryHead({ delivery, children }: { delivery: DetailedDelivery; children: ComponentChildren }) {
  const t = texts.value;
  const outcome = shownOutcome(delivery);
  // It had ended: nobody but who sent it again tries once more.
  const isAgain = outcome === 'retrying' && delivery.sentAgain;
  const last = delivery.attempts.at(-1);
  const failed = last && (last.status === null || last.status >= 300) ? last : null;
  return (
    <div class="stack tight">
      <div class="cluster">
        <h1>
          <EventName type={delivery.eventType} />{' '}
          <code class="muted">
            <Untrusted text={delivery.eventId} />
          </code>
        </h1>
        <OutcomeBadge outcome={outcome} />
      </div>
      <p>{isAgain ? t.delivery.again : t.delivery.story[outcome](delivery.attempts.length)}</p>
      {failed && delivery.outcome !== 'delivered' && (
        <p class="muted">
          <b>{t.causes.title(failed.status, failed.error)}</b> {t.causes.remedy(failed.status, failed.error)}
        </p>
      )}
      {children}
    </div>
  );
}
