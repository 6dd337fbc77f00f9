import { useState } from 'preact/hooks';
import { api, type Failure, resultOf } from '../api/client.js';
import { Modal } from '../parts/modal.js';
import { say } from '../state/toast.js';
import type { Webhook } from '../state/webhooks.js';
import { inOwnWords, whyOf } from '../texts/said.js';
import { texts } from '../texts/texts.js';
import { webhookTexts } from '../texts/webhooks.js';
import { Field } from './field.js';
import { type GivenHeader, HeaderFields } from './header-fields.js';
import { Test, useTest } from './test-result.js';

const MOST_ACTIVE = 3;
/** Fields whose errors stand beside them. */
const BESIDE = /^(url|eventType|headers)/;

interface EditParts {
  /** Null: one is added. */
  readonly webhook: Webhook | null;
  readonly webhooks: readonly Webhook[];
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

/** Registering a URL and type again replaces the entry: so one that exists keeps both, and all of its headers are sent. */
export function EditWebhook({ webhook, webhooks, onClose, onSaved }: EditParts) {
  const t = webhookTexts.value.form;
  const [saved, setSaved] = useState(webhook);
  const [url, setUrl] = useState(webhook?.url ?? '');
  const [type, setType] = useState<Webhook['type']>(webhook?.type ?? 'cash_in');
  const [headers, setHeaders] = useState(() => headersOf(webhook));
  const [refusal, setRefusal] = useState<Failure | null>(null);
  const test = useTest();
  const messageFor = (field: string) => {
    const found = refusal?.errors.find((error) => error.field === field);
    return found && inOwnWords(found.message);
  };
  const others = webhooks.filter((other) => other.id !== saved?.id && other.type === type);
  const known = others.find((other) => other.url === url.trim());
  const active = others.filter((other) => other.isActive && other !== known).length;
  const isFull = active >= MOST_ACTIVE;
  const save = async (isTested: boolean) => {
    const given = headers.filter(({ key, value }) => key || value);
    setHeaders(given);
    const body = { url: url.trim(), eventType: type, headers: given };
    const result = await resultOf(api.POST('/api/webhooks', { body }));
    setRefusal(result.kind === 'failed' ? result : null);
    if (result.kind !== 'ok') return;
    setSaved(result.data.webhook);
    onSaved();
    if (isTested) return test.run(result.data.webhook.id);
    say('done', webhookTexts.value.saved);
    onClose();
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    void save((event.submitter as HTMLButtonElement | null)?.value === 'test');
  };
  return (
    <Modal title={webhook ? t.edit : t.add} onClose={onClose}>
      <form onSubmit={submit} noValidate>
        <Field label={t.url} hint={saved ? t.locked : known ? t.replaces : t.urlHint} error={messageFor('url')}>
          {(described) => (
            <input
              {...described}
              type="url"
              value={url}
              readOnly={saved !== null}
              placeholder="https://example.com/webhooks"
              autoComplete="off"
              onInput={({ currentTarget }) => setUrl(currentTarget.value)}
            />
          )}
        </Field>
        <Field
          label={t.type}
          hint={webhookTexts.value.used(active)}
          error={messageFor('eventType') ?? (isFull ? t.full : undefined)}
        >
          {(described) => (
            <select
              {...described}
              value={type}
              disabled={saved !== null}
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
        {saved && !saved.isActive && <p class="muted">{t.activates}</p>}
        {refusal && !refusal.errors.some(({ field }) => BESIDE.test(field)) && (
          <p class="bad" role="alert">
            {whyOf(refusal, webhookTexts.value.failed)}
          </p>
        )}
        <Test state={test.state} />
        <footer>
          <button type="submit" value="test" class="button" disabled={isFull || test.state.kind === 'testing'}>
            {t.saveAndTest}
          </button>
          <button type="submit" value="save" class="button primary" disabled={isFull}>
            {t.save}
          </button>
        </footer>
      </form>
    </Modal>
  );
}

function headersOf(webhook: Webhook | null): readonly GivenHeader[] {
  return Object.entries(webhook?.headers ?? {}).map(([key, value]) => ({ key, value }));
}
