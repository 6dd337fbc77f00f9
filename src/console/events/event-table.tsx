import { useState } from 'preact/hooks';
import type { components } from '../api/openapi.js';
import { isolated } from '../format/untrusted.js';
import { Copied, CopyButton } from '../parts/copy-button.js';
import { EventName } from '../parts/event-name.js';
import { JsonText } from '../parts/json-text.js';
import { TimeText } from '../parts/time-text.js';
import { may } from '../state/session.js';
import { texts } from '../texts/texts.js';
import { Destinations } from './destinations.js';

type PublishedEvent = components['schemas']['PublishedEvent'];

export function EventTable({ events }: { events: readonly PublishedEvent[] }) {
  const t = texts.value.events;
  return (
    <table class="rows views">
      <thead>
        <tr>
          <th>{t.event}</th>
          <th>{t.sentTo}</th>
          <th>{t.when}</th>
          {may('payloads') && (
            <th>
              <span class="unseen">{t.payload}</span>
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
  const t = texts.value.events;
  return (
    <>
      <tr>
        <td class="event">
          <b>
            <EventName type={eventType} />
          </b>
          <Copied value={eventId} what={texts.value.delivery.facts.eventId} />
        </td>
        <td>
          <Destinations event={event} />
        </td>
        <td class="when">{publishedAt && <TimeText at={publishedAt} />}</td>
        {may('payloads') && (
          <td class="act">
            <button
              type="button"
              class="button ghost"
              aria-expanded={isOpen}
              aria-label={t.show(isolated(eventId))}
              onClick={() => setOpen(!isOpen)}
            >
              {t.payload}
            </button>
          </td>
        )}
      </tr>
      {isOpen && (
        <tr class="more">
          <td colSpan={4}>
            {payload === null ? <p class="muted">{t.lost}</p> : <JsonText text={payload} />}
            {payload !== null && <CopyButton isNamed what={t.payload} value={() => payload} />}
          </td>
        </tr>
      )}
    </>
  );
}
