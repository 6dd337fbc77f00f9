import { useState } from 'preact/hooks';
import { patch, post } from '../api/client.js';
import type { Webhook } from '../api/shapes.js';
import { Problem } from '../parts/action.js';
import { Check } from '../parts/inputs.js';
import { Json } from '../parts/text.js';
import { useGot } from '../state/polled.js';
import type { UrlHealth } from '../state/urls.js';
import { activeOf } from '../state/webhooks.js';
import { texts } from '../texts/texts.js';
import { headersOf } from './header-fields.js';
import { type Given, UrlForm } from './url-form.js';

const MOST_ACTIVE = 3;
type Type = Webhook['type'];

interface FormParts {
  /** Null: one is added. */
  readonly of: UrlHealth | null;
  /** All of the account. */
  readonly webhooks: readonly Webhook[];
  /** @param webhook one of those that were saved */
  readonly onSaved: (webhook: Webhook, isTested: boolean) => void;
}

/** Adding registers a URL for several types; editing changes it and its headers for all its types. */
export function WebhookForm({ of, webhooks, onSaved }: FormParts) {
  const { form: t, active } = texts.value.webhooks;
  const [types, setTypes] = useState<readonly Type[]>([]);
  /** Saving it again would replace the headers that it has. */
  const isThere = (url: string, type: Type) =>
    webhooks.some((other) => other.type === type && isSameUrl(other.url, url));
  const isFull = (type: Type) => activeOf(type, webhooks) >= MOST_ACTIVE;
  const save = (given: Given) =>
    of
      ? changed(of, given)
      : registered(
          given,
          types.filter((type) => !isThere(given.url, type)),
        );
  return (
    <UrlForm
      given={{ url: of?.url ?? '', headers: headersOf(of?.webhooks[0]?.headers) }}
      hint={of ? t.moves : t.urlHint}
      save={save}
      onSaved={(saved, isTested) => saved && onSaved(saved, isTested)}
    >
      {(url, messageFor) =>
        !of && (
          <>
            <TypeFields
              chosen={types}
              onChange={setTypes}
              refusalOf={(type) => (isThere(url, type) ? t.known : isFull(type) ? active(MOST_ACTIVE) : null)}
            />
            <Problem text={messageFor('eventType') ?? messageFor('eventTypes') ?? null} />
          </>
        )
      }
    </UrlForm>
  );
}

interface TypeParts {
  readonly chosen: readonly Type[];
  readonly onChange: (types: readonly Type[]) => void;
  /** Why a type cannot be chosen; null: it can. */
  readonly refusalOf: (type: Type) => string | null;
}

/** The types, with an example of each that is chosen. */
function TypeFields({ chosen, onChange, refusalOf }: TypeParts) {
  const { eventTypes: names, typesExplained, payments } = texts.value;
  const examples = useGot('/api/event-types', {}, { everyMs: 600_000 }).data?.eventTypes ?? [];
  const options = Object.keys(names) as Type[];
  return (
    <fieldset>
      <legend>{payments.type}</legend>
      {options.map((type) => (
        <div key={type}>
          <Check
            isChecked={chosen.includes(type) && !refusalOf(type)}
            isDisabled={refusalOf(type) !== null}
            onChange={() => onChange(options.filter((one) => chosen.includes(one) !== (one === type)))}
          >
            {names[type]}
            <small>{refusalOf(type) ?? typesExplained[type]}</small>
          </Check>
          {examples
            .filter((one) => one.type === type && one.example && chosen.includes(type))
            .map(({ example }) => (
              <Json key={type} text={JSON.stringify(example)} />
            ))}
        </div>
      ))}
    </fieldset>
  );
}

/** As the service does: two spellings of a URL are one. */
function isSameUrl(one: string, other: string): boolean {
  return URL.canParse(one) && URL.canParse(other) && new URL(one).href === new URL(other).href;
}

async function registered({ url, headers }: Given, types: readonly Type[]) {
  const result = await post('/api/webhooks', { body: { url, eventTypes: [...types], headers } });
  return result.kind === 'ok' ? { ...result, data: result.data.webhooks?.[0] ?? null } : result;
}

/** First the headers, so that another URL gets no others. Untouched, types keep the headers that are their own. */
async function changed(of: UrlHealth, { url, headers }: Given) {
  const isTouched = JSON.stringify(headers) !== JSON.stringify(headersOf(of.webhooks[0]?.headers));
  for (const { id } of isTouched ? of.webhooks : []) {
    const result = await patch('/api/webhooks/{id}', id, { headers });
    if (result.kind === 'failed') return result;
  }
  if (url !== of.url) {
    const result = await post('/api/webhooks/move', { body: { from: of.url, to: url } });
    if (result.kind === 'failed') return result;
  }
  const [first] = of.webhooks;
  return { kind: 'ok', data: first ? { ...first, url } : null, etag: null } as const;
}
