import type { ComponentChildren } from 'preact';
import { api, resultOf } from '../api/client.js';
import type { components } from '../api/openapi.js';
import { Copied, CopyButton } from '../parts/copy-button.js';
import { EventName } from '../parts/event-name.js';
import { Freshness, staleness } from '../parts/freshness.js';
import { JsonText } from '../parts/json-text.js';
import { Skeleton } from '../parts/skeleton.js';
import { type Asking, usePolled } from '../state/polled.js';
import { texts } from '../texts/texts.js';

type Catalogue = components['schemas']['EventTypeList'];

export function EventTypes({ tabs }: { tabs: ComponentChildren }) {
  const ask = (asking: Asking) => resultOf(api.GET('/api/event-types', asking));
  const found = usePolled<Catalogue>('event types', ask, { everyMs: 60_000 });
  const t = texts.value.events;
  return (
    <>
      <header class="screen-head">
        <h1>{t.title}</h1>
        <Freshness of={found} />
      </header>
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
