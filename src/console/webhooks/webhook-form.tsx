import { useState } from 'preact/hooks';
import { patch, post } from '../api/client.js';
import type { Webhook } from '../api/shapes.js';
import { Problem } from '../parts/action.js';
import { Check } from '../parts/inputs.js';
import { webhookAddress } from '../state/addresses.js';
import type { UrlHealth } from '../state/urls.js';
import { messagesOf, whyOf } from '../texts/said.js';
import { texts } from '../texts/texts.js';
import { Field, type GivenHeader, HeaderFields } from './header-fields.js';

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

/** Adding registers a URL for several types; editing moves it for all its types, and sets the headers of those chosen. */
export function WebhookForm({ of, webhooks, onSaved }: FormParts) {
  const t = texts.value.webhooks.form;
  const [url, setUrl] = useState(of?.url ?? '');
  const [types, setTypes] = useState<readonly Type[]>(() => typesOf(of));
  const [headers, setHeaders] = useState<readonly GivenHeader[]>(() => headersOf(of?.webhooks[0]));
  const { messages, failure, save, forget } = useSaving(of);
  const messageFor = (field: string) => messages[field];
  const there = of ? [] : webhooks.filter((other) => isSameUrl(other.url, url.trim()));
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const isTested = (event.submitter as HTMLButtonElement | null)?.value === 'test';
    const given = headers.filter(({ key, value }) => key || value);
    setHeaders(given);
    const chosen = types.filter((type) => !there.some((other) => other.type === type));
    const saved = await save({ url: url.trim(), types: chosen, headers: given });
    if (saved) onSaved(saved, isTested);
  };
  return (
    <form class="stack" onSubmit={submit} onInput={forget} noValidate>
      <Field
        label="URL"
        hint={there[0] ? <AlreadyThere webhooks={there} /> : of ? t.moves : t.urlHint}
        error={messageFor('url') ?? messageFor('to')}
      >
        {(described) => (
          <input
            {...described}
            type="url"
            value={url}
            placeholder="https://example.com/webhooks"
            autoComplete="off"
            onInput={({ currentTarget }) => setUrl(currentTarget.value)}
          />
        )}
      </Field>
      <TypeFields
        options={of ? of.webhooks.map(({ type }) => type) : (Object.keys(texts.value.eventTypes) as Type[])}
        isOff={(type) => !of && (isFull(webhooks, type) || there.some((other) => other.type === type))}
        legend={of ? t.headersOf : texts.value.payments.type}
        hintOf={(type) => (of ? '' : texts.value.webhooks.active(activeIn(webhooks, type)))}
        chosen={types}
        onChange={setTypes}
        error={messageFor('eventType') ?? messageFor('eventTypes')}
      />
      <HeaderFields headers={headers} onChange={setHeaders} messageFor={messageFor} />
      <Problem text={failure} />
      <footer>
        <button type="submit" value="test" class="button">
          {t.saveAndTest}
        </button>
        <button type="submit" value="save" class="button primary">
          {t.save}
        </button>
      </footer>
    </form>
  );
}

const activeIn = (webhooks: readonly Webhook[], type: Type) =>
  webhooks.filter((one) => one.type === type && one.isActive).length;
const isFull = (webhooks: readonly Webhook[], type: Type) => activeIn(webhooks, type) >= MOST_ACTIVE;

/** Types with other headers than the first keep them, unless they are chosen. */
function typesOf(of: UrlHealth | null): readonly Type[] {
  const [first, ...others] = of?.webhooks ?? [];
  if (!first) return [];
  const isAlike = (one: Webhook) => JSON.stringify(one.headers) === JSON.stringify(first.headers);
  return [first.type, ...others.filter(isAlike).map(({ type }) => type)];
}

const headersOf = (webhook: Webhook | undefined): GivenHeader[] =>
  Object.entries(webhook?.headers ?? {}).map(([key, value]) => ({ key, value }));

interface TypeParts {
  readonly options: readonly Type[];
  readonly isOff: (type: Type) => boolean;
  readonly legend: string;
  readonly hintOf: (type: Type) => string;
  readonly chosen: readonly Type[];
  readonly onChange: (types: readonly Type[]) => void;
  readonly error: string | undefined;
}

function TypeFields({ options, isOff, legend, hintOf, chosen, onChange, error }: TypeParts) {
  const toggle = (type: Type) => onChange(options.filter((one) => chosen.includes(one) !== (one === type)));
  if (options.length === 1) return null;
  return (
    <fieldset class="types">
      <legend>{legend}</legend>
      {options.map((type) => (
        <Check
          key={type}
          isChecked={chosen.includes(type) && !isOff(type)}
          isDisabled={isOff(type)}
          onChange={() => toggle(type)}
        >
          {texts.value.eventTypes[type]}
          <small>{hintOf(type)}</small>
        </Check>
      ))}
      <Problem text={error ?? null} />
    </fieldset>
  );
}

/** Saving it again would replace the headers that it has. */
function AlreadyThere({ webhooks: [first, ...others] }: { webhooks: readonly Webhook[] }) {
  const { webhooks: t, eventTypes } = texts.value;
  if (!first) return null;
  const names = [first, ...others].map(({ type }) => eventTypes[type]).join(', ');
  return (
    <>
      {t.form.known(names)} <a href={`${webhookAddress(first.id)}?edit=1`}>{t.form.editIt}</a>
    </>
  );
}

/** As the service does: two spellings of a URL are one. */
function isSameUrl(one: string, other: string): boolean {
  return URL.canParse(one) && URL.canParse(other) && new URL(one).href === new URL(other).href;
}

interface Registration {
  readonly url: string;
  readonly types: readonly Type[];
  readonly headers: GivenHeader[];
}

/** What the service says of the fields, by their names in the API; otherwise why it failed. */
function useSaving(of: UrlHealth | null) {
  const [messages, setMessages] = useState<Readonly<Record<string, string>>>({});
  const [failure, setFailure] = useState<string | null>(null);
  const save = async (given: Registration): Promise<Webhook | null> => {
    setFailure(null);
    const result = await (of ? changed(of, given) : registered(given));
    if (result.kind !== 'failed') return result.kind === 'ok' ? result.data : null;
    setMessages(messagesOf(result));
    if (result.errors.length === 0) setFailure(whyOf(result, texts.value.webhooks.failed));
    return null;
  };
  return { messages, failure, save, forget: () => setMessages({}) };
}

async function registered({ url, types, headers }: Registration) {
  const result = await post('/api/webhooks', { body: { url, eventTypes: [...types], headers } });
  return result.kind === 'ok' ? { ...result, data: result.data.webhooks?.[0] ?? null } : result;
}

/** First the headers of the types chosen, so that another URL gets no others; then the URL of all. */
async function changed(of: UrlHealth, { url, types, headers }: Registration) {
  const asked = JSON.stringify(headers);
  for (const webhook of of.webhooks) {
    if (!types.includes(webhook.type) || JSON.stringify(headersOf(webhook)) === asked) continue;
    const result = await patch('/api/webhooks/{id}', webhook.id, { headers });
    if (result.kind === 'failed') return result;
  }
  if (url !== of.url) {
    const result = await post('/api/webhooks/move', { body: { from: of.url, to: url } });
    if (result.kind === 'failed') return result;
  }
  const [first] = of.webhooks;
  return { kind: 'ok', data: first ? { ...first, url } : null, etag: null } as const;
}
