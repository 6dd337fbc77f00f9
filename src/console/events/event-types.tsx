import type { ComponentChildren } from 'preact';
import { Copied, CopyButton } from '../parts/copy-button.js';
import { EventName } from '../parts/event-name.js';
import { staleness } from '../parts/freshness.js';
import { JsonText } from '../parts/json-text.js';
import { ScreenHead } from '../parts/screen-head.js';
import { Skeleton } from '../parts/skeleton.js';
import { useGot } from '../state/polled.js';
import { eventTexts } from '../texts/events.js';
import { texts } from '../texts/texts.js';

export function EventTypes({ tabs }: { tabs: ComponentChildren }) {
  const found = useGot('/api/event-types', {}, { everyMs: 60_000 });
  const t = eventTexts.value;
  return (
    <>
      <ScreenHead title={texts.value.screens.events} of={found} />
      {tabs}
      {found.data ? (
        <div class={`stack types${staleness(found)}`}>
          {found.data.eventTypes.map(({ type, description, schema, example }) => (
            <section key={type} class="card">
              <header class="card-head">
                <h2>
                  <EventName type={type} />
                </h2>
                <Copied value={type} what={t.name} />
              </header>
              <p>{description}</p>
              <Shown title={t.example} value={example} />
              <Shown title={t.schema} value={schema} />
              {!schema && <p class="muted">{t.noSchema}</p>}
            </section>
          ))}
        </div>
      ) : (
        <Skeleton lines={7} />
      )}
    </>
  );
}

function Shown({ title, value }: { title: string; value: unknown }) {
  if (value == null) return null;
  const text = JSON.stringify(value, null, 2);
  return (
    <details>
      <summary>{title}</summary>
      <JsonText text={text} />
      <CopyButton isNamed what={title} value={() => text} />
    </details>
  );
}
