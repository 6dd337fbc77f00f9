import { useState } from 'preact/hooks';
import { api, resultOf } from '../api/client.js';
import type { components } from '../api/openapi.js';
import { addressOf } from '../state/addresses.js';
import type { Webhook } from '../state/webhooks.js';
import { inOwnWords, whyOf } from '../texts/said.js';
import { texts } from '../texts/texts.js';
import { webhookTexts } from '../texts/webhooks.js';
import { Field } from './field.js';
import { isSameUrl, problemsIn } from './form-problems.js';
import { type GivenHeader, HeaderFields } from './header-fields.js';

const MOST_ACTIVE = 3;

interface FormParts {
  /** Null: one is added. */
  readonly webhook: Webhook | null;
  readonly webhooks: readonly Webhook[];
  readonly onSaved: (webhook: Webhook, isTested: boolean) => void;
}

/** Of one that exists the type stays, and it stays active or not. All of its headers are sent. */
export function WebhookForm({ webhook, webhooks, onSaved }: FormParts) {
  const t = webhookTexts.value.form;
  const { facts } = texts.value.delivery;
  const [url, setUrl] = useState(webhook?.url ?? '');
  const [type, setType] = useState<Webhook['type']>(webhook?.type ?? 'cash_in');
  const [headers, setHeaders] = useState<readonly GivenHeader[]>(() => headersOf(webhook));
  const { messages, failure, save, forget } = useSaving(webhook);
  const messageFor = (field: string) => messages[field];
  const ofType = webhooks.filter((other) => other.type === type);
  const active = ofType.filter(({ isActive }) => isActive);
  const known = ofType.find((other) => other.id !== webhook?.id && isSameUrl(other.url, url.trim()));
  const isFull = !webhook && !known && active.length >= MOST_ACTIVE;
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const isTested = (event.submitter as HTMLButtonElement | null)?.value === 'test';
    const given = headers.filter(({ key, value }) => key || value);
    setHeaders(given);
    const saved = await save({ url: url.trim(), eventType: type, headers: given });
    if (saved) onSaved(saved, isTested);
  };
  return (
    <form class="stack" onSubmit={submit} onInput={forget} noValidate>
      <Field
        label={facts.url}
        hint={webhook ? t.moves : t.urlHint}
        error={known ? <AlreadyThere webhook={known} /> : messageFor('url')}
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
      <Field
        label={facts.eventType}
        hint={webhookTexts.value.active(active.length)}
        error={isFull ? t.full : messageFor('eventType')}
      >
        {(described) => (
          <select
            {...described}
            value={type}
            disabled={webhook !== null}
            onChange={({ currentTarget }) => setType(currentTarget.value as Webhook['type'])}
          >
            {Object.entries(texts.value.eventTypes).map(([one, name]) => (
              <option key={one} value={one}>
                {name}
              </option>
            ))}
          </select>
        )}
      </Field>
      <HeaderFields headers={headers} onChange={setHeaders} messageFor={messageFor} />
      {failure && (
        <p class="bad" role="alert">
          {failure}
        </p>
      )}
      <footer>
        <button type="submit" value="test" class="button" disabled={isFull || known !== undefined}>
          {t.saveAndTest}
        </button>
        <button type="submit" value="save" class="button primary" disabled={isFull || known !== undefined}>
          {t.save}
        </button>
      </footer>
    </form>
  );
}

/** Saving it would replace the headers that it has. */
function AlreadyThere({ webhook: { id, type, isActive } }: { webhook: Webhook }) {
  const t = webhookTexts.value.form;
  const name = texts.value.eventTypes[type];
  return (
    <>
      {isActive ? t.known(name) : t.knownOff(name)} <a href={addressOf(`/webhooks/${id}`, { edit: '1' })}>{t.editIt}</a>
    </>
  );
}

type Registered = components['schemas']['RegisteredWebhook'];

interface Registration {
  readonly url: string;
  readonly eventType: Webhook['type'];
  readonly headers: GivenHeader[];
}

/** Wrong fields are named before the service is asked; messages are by the field's name in the API. */
function useSaving(webhook: Webhook | null) {
  const [messages, setMessages] = useState<Readonly<Record<string, string>>>({});
  const [failure, setFailure] = useState<string | null>(null);
  const save = async (body: Registration): Promise<Webhook | null> => {
    const { form, failed } = webhookTexts.value;
    const problems = Object.entries(problemsIn(body.url, body.headers));
    setMessages(Object.fromEntries(problems.map(([field, problem]) => [field, form.problems[problem]])));
    setFailure(null);
    if (problems.length > 0) return null;
    const result = await (webhook ? changed(webhook, body) : resultOf(api.POST('/api/webhooks', { body })));
    if (result.kind === 'ok')
      return webhook ? { ...webhook, url: body.url } : ((result.data as Registered).webhook ?? null);
    if (result.kind === 'same') return null;
    setMessages(Object.fromEntries(result.errors.map((error) => [error.field, inOwnWords(error)])));
    if (result.errors.length === 0) setFailure(whyOf(result, failed));
    return null;
  };
  return { messages, failure, save, forget: () => setMessages({}) };
}

const changed = ({ id }: Webhook, { url, headers }: Registration) =>
  resultOf(api.PATCH('/api/webhooks/{id}', { params: { path: { id } }, body: { url, headers } }));

function headersOf(webhook: Webhook | null): GivenHeader[] {
  return Object.entries(webhook?.headers ?? {}).map(([key, value]) => ({ key, value }));
}
