import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Result } from '../api/client.js';
import { Problem } from '../parts/action.js';
import { messagesOf, whyOf } from '../texts/said.js';
import { texts } from '../texts/texts.js';
import { type GivenHeader, HeaderFields, TextField } from './header-fields.js';

export interface Given {
  readonly url: string;
  readonly headers: GivenHeader[];
}

interface FormParts<Saved> {
  readonly given: Given;
  readonly hint: string;
  readonly save: (given: Given) => Promise<Result<Saved>>;
  readonly onSaved: (saved: Saved, isTested: boolean) => void;
  /** Between the URL and its headers. */
  readonly children?: (url: string, messageFor: (field: string) => string | undefined) => ComponentChildren;
}

/** A URL with its headers. The service says what is wrong, by the names that the API gives its fields. */
export function UrlForm<Saved>({ given, hint, save, onSaved, children }: FormParts<Saved>) {
  const t = texts.value.webhooks.form;
  const [url, setUrl] = useState(given.url);
  const [headers, setHeaders] = useState(given.headers);
  const [messages, setMessages] = useState<Readonly<Record<string, string>>>({});
  const [failure, setFailure] = useState<string | null>(null);
  const messageFor = (field: string) => messages[field];
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const isTested = (event.submitter as HTMLButtonElement | null)?.value === 'test';
    const kept = headers.filter(({ key, value }) => key || value);
    setHeaders(kept);
    setFailure(null);
    const result = await save({ url: url.trim(), headers: kept });
    if (result.kind === 'ok') onSaved(result.data, isTested);
    if (result.kind !== 'failed') return;
    setMessages(messagesOf(result));
    if (result.errors.length === 0) setFailure(whyOf(result, texts.value.failed));
  };
  return (
    <form class="stack" onSubmit={submit} onInput={() => setMessages({})} noValidate>
      <TextField
        label="URL"
        placeholder="https://example.com/webhooks"
        value={url}
        // A move calls the new URL `to`, which stands nowhere on the page.
        error={messageFor('url') ?? messageFor('to')?.replace(/^to\b/, 'url')}
        hint={hint}
        onInput={setUrl}
      />
      {children?.(url.trim(), messageFor)}
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
