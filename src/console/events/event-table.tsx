import { useState } from 'preact/hooks';
import type { components } from '../api/openapi.js';
import { isolated } from '../format/untrusted.js';
import { Copied, CopyButton } from '../parts/copy-button.js';
import { EventName } from '../parts/event-name.js';
import { JsonText } from '../parts/json-text.js';
import { TimeText } from '../parts/time-text.js';
import { may } from '../state/session.js';
import { eventTexts } from '../texts/events.js';
import { texts } from '../texts/texts.js';
import { Destinations } from './destinations.js';

type PublishedEvent = components['schemas']['PublishedEvent'];

export function EventTable({ events }: { events: readonly PublishedEvent[] }) {
  const t = eventTexts.value;
  const { deliveries, delivery } = texts.value;
  return (
    <table class="rows">
      <thead>
        <tr>
          <th>{deliveries.event}</th>
          <th>{t.sentTo}</th>
          <th>{deliveries.published}</th>
          {may('payloads') && (
            <th>
              <span class="unseen">{delivery.payload.title}</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {events.map((event) => (
          <EventRows key={event.cursor} event={event} />
        ))}
      </tbody>
    </table>
  );
}

function EventRows({ event }: { event: PublishedEvent }) {
  const [isOpen, setOpen] = useState(false);
  const { eventId, eventType, publishedAt, payload } = event;
  const t = eventTexts.value;
  const { delivery } = texts.value;
  return (
    <>
      <tr>
        <td class="event">
          <b>
            <EventName type={eventType} />
          </b>
          <Copied value={eventId} what={delivery.facts.eventId} />
        </td>
        <td>
          <Destinations event={event} />
        </td>
        <td>{publishedAt && <TimeText at={publishedAt} />}</td>
        {may('payloads') && (
          <td class="end">
            <button
              type="button"
              class="button ghost"
              aria-expanded={isOpen}
              aria-label={t.show(isolated(eventId))}
              onClick={() => setOpen(!isOpen)}
            >
              {delivery.payload.title}
            </button>
          </td>
        )}
      </tr>
      {isOpen && (
        <tr class="more">
          <td colSpan={4}>
            {payload === null ? <p class="muted">{delivery.payload.lost}</p> : <JsonText text={payload} />}
            {payload !== null && <CopyButton isNamed what={delivery.payload.title} value={() => payload} />}
          </td>
        </tr>
      )}
    </>
  );
}
