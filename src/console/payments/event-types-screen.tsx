import { Copied, CopyButton } from '../parts/copy-button.js';
import { JsonText } from '../parts/json-text.js';
import { ScreenHead, Skeleton, staleness } from '../parts/screen-head.js';
import { EventName } from '../parts/text.js';
import { addressOf } from '../state/addresses.js';
import { useGot } from '../state/polled.js';
import { texts } from '../texts/texts.js';

export function EventTypesScreen() {
  const found = useGot('/api/event-types', {}, { everyMs: 60_000 });
  const { eventTypesScreen: t, typesExplained, screens } = texts.value;
  return (
    <>
      <ScreenHead title={screens.webhooks} href={addressOf('/webhooks')} tab={t.title} of={found} />
      <h1>{t.title}</h1>
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
              {/* What the operator wrote is in the operator's language. */}
              <p>{schema && 'description' in schema ? description : typesExplained[type]}</p>
              <Shown title={t.example} value={example} />
              <Shown title={t.schema} value={schema} />
              {!schema && <p class="muted">{t.noSchema}</p>}
            </section>
          ))}
        </div>
      ) : (
        <Skeleton lines={7} of={found} />
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
