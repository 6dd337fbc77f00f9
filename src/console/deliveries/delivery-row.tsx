import type { ListedDelivery } from '../api/shapes.js';
import { latency } from '../format/numbers.js';
import { isolated } from '../format/untrusted.js';
import { EventName } from '../parts/event-name.js';
import { OutcomeBadge, shownOutcome } from '../parts/outcome-badge.js';
import { RelativeTime } from '../parts/relative-time.js';
import { TimeText } from '../parts/time-text.js';
import { Untrusted } from '../parts/untrusted.js';
import { UrlText } from '../parts/url-text.js';
import { isAhead } from '../state/now.js';
import { texts } from '../texts/texts.js';
import { LastAnswer } from './last-answer.js';

interface RowParts {
  readonly delivery: ListedDelivery;
  readonly href: string;
  /** Null: the webhook was removed; undefined: not known yet. */
  readonly url: string | null | undefined;
  /** Null: the session may resend nothing. */
  readonly isChosen: boolean | null;
  readonly onToggle: () => void;
}

export function DeliveryRow({ delivery, href, url, isChosen, onToggle }: RowParts) {
  const t = texts.value.deliveries;
  const { eventId, eventType, attempts, nextAttemptAt, waitingFor, publishedAt } = delivery;
  const last = attempts.at(-1);
  return (
    <tr class={isChosen ? 'chosen' : undefined}>
      {isChosen !== null && (
        <td class="choose">
          <input type="checkbox" aria-label={t.choose(isolated(eventId))} checked={isChosen} onChange={onToggle} />
        </td>
      )}
      <td class="outcome">
        <OutcomeBadge outcome={shownOutcome(delivery)} />
        {nextAttemptAt && isAhead(nextAttemptAt) ? (
          <small>
            {t.next} <RelativeTime at={nextAttemptAt} />
          </small>
        ) : (
          waitingFor && <small>{t.waits[waitingFor]}</small>
        )}
      </td>
      <td class="event">
        <a class="row-link" href={href}>
          <EventName type={eventType} />
        </a>
        <code class="cut">
          <Untrusted text={eventId} />
        </code>
      </td>
      <td class="to">
        {url ? (
          <UrlText url={url} />
        ) : (
          url === null && <span class="muted">{t.removedWebhook(delivery.webhookId)}</span>
        )}
      </td>
      <td class="answer">
        <LastAnswer attempt={last} />
        {last && <small>{latency(last.durationMs)}</small>}
      </td>
      <td class="number end" data-label={t.attempts}>
        {attempts.length}
      </td>
      <td class="published">{publishedAt && <TimeText at={publishedAt} />}</td>
    </tr>
  );
}
