import { useState } from 'preact/hooks';
import { patch, post } from '../api/client.js';
import type { Webhook } from '../api/shapes.js';
import { Problem } from '../parts/action.js';
import { Check } from '../parts/inputs.js';
import { activeIn, type UrlHealth } from '../state/urls.js';
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
          <TypeFields
            isOff={(type) => activeIn(webhooks, type) >= MOST_ACTIVE || isThere(url, type)}
            hintOf={(type) => (isThere(url, type) ? t.known : active(activeIn(webhooks, type)))}
            chosen={types}
            onChange={setTypes}
            error={messageFor('eventType') ?? messageFor('eventTypes')}
          />
        )
      }
    </UrlForm>
  );
}

interface TypeParts {
  readonly isOff: (type: Type) => boolean;
  readonly hintOf: (type: Type) => string;
  readonly chosen: readonly Type[];
  readonly onChange: (types: readonly Type[]) => void;
  readonly error: string | undefined;
}

function TypeFields({ isOff, hintOf, chosen, onChange, error }: TypeParts) {
  const options = Object.keys(texts.value.eventTypes) as Type[];
  const toggle = (type: Type) => onChange(options.filter((one) => chosen.includes(one) !== (one === type)));
  return (
    <fieldset class="types">
      <legend>{texts.value.payments.type}</legend>
      {options.map((type) => (
        <Check
          key={type}
          isChecked={chosen.includes(type) && !isOff(type)}
          isDisabled={isOff(type)}
          onChange={() => toggle(type)}
        >
          {texts.value.eventTypes[type]}
          <small>
            {hintOf(type)}. {texts.value.typesExplained[type]}
          </small>
        </Check>
      ))}
      <Problem text={error ?? null} />
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
