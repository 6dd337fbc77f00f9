import { useState } from 'preact/hooks';
import { put, remove } from '../api/client.js';
import { ActionButton, useAction } from '../parts/action.js';
import { Button } from '../parts/button.js';
import { Card } from '../parts/card.js';
import { Modal } from '../parts/modal.js';
import { Untrusted, UrlText } from '../parts/text.js';
import { useGot } from '../state/polled.js';
import { may } from '../state/session.js';
import { messagesOf } from '../texts/said.js';
import { texts } from '../texts/texts.js';
import { Field, type GivenHeader, HeaderFields } from '../webhooks/header-fields.js';
import { Test, TestButton, useTest } from '../webhooks/test-result.js';

/** Where the account is told that a URL fails or was switched off. */
export function Notices() {
  const found = useGot('/api/notices', {}, { everyMs: 15_000 });
  const [isEditing, edit] = useState(false);
  const t = texts.value.security.notices;
  const test = useTest();
  return (
    <Card title={t.title} text={t.text} of={found}>
      {({ url, headers }) => (
        <div class="stack close">
          {url ? (
            <p>
              <UrlText url={url} />{' '}
              <small>
                <Untrusted text={Object.keys(headers).join(', ')} />
              </small>
            </p>
          ) : (
            <p class="warn">{t.none}</p>
          )}
          {may('configure') && (
            <div class="cluster">
              <Button kind={url ? undefined : 'primary'} onClick={() => edit(true)}>
                {url ? texts.value.webhooks.edit : t.set}
              </Button>
              {url && <TestButton test={test} webhookId="notices" />}
              {url && (
                <ActionButton
                  kind="danger"
                  call={() => remove('/api/notices')}
                  question={{ ...t.removing, yes: texts.value.remove, isDanger: true }}
                  done={t.removing.done}
                  failed={t.failed}
                  onDone={found.look}
                >
                  {texts.value.remove}
                </ActionButton>
              )}
            </div>
          )}
          <Test state={test.state} />
          {isEditing && (
            <Edit
              url={url ?? ''}
              headers={Object.entries(headers).map(([key, value]) => ({ key, value }))}
              onSaved={found.look}
              onClose={() => edit(false)}
            />
          )}
        </div>
      )}
    </Card>
  );
}

interface EditParts {
  readonly url: string;
  readonly headers: readonly GivenHeader[];
  readonly onSaved: () => void;
  readonly onClose: () => void;
}

function Edit({ onSaved, onClose, ...given }: EditParts) {
  const [url, setUrl] = useState(given.url);
  const [headers, setHeaders] = useState(given.headers);
  const [messages, setMessages] = useState<Readonly<Record<string, string>>>({});
  const { security, webhooks } = texts.value;
  const t = security.notices;
  const save = useAction({
    call: async () => {
      const body = { url: url.trim(), headers: headers.filter(({ key, value }) => key || value) };
      const result = await put('/api/notices', body);
      setMessages(result.kind === 'failed' ? messagesOf(result) : {});
      return result;
    },
    done: webhooks.form.saved,
    failed: t.failed,
    onDone: () => {
      onSaved();
      onClose();
    },
  });
  const submit = (event: Event) => {
    event.preventDefault();
    save.start();
  };
  return (
    <Modal title={t.title} onClose={onClose}>
      <form class="stack" onSubmit={submit} noValidate>
        <Field label="URL" hint={webhooks.form.urlHint} error={messages.url}>
          {(described) => (
            <input {...described} type="url" value={url} onInput={({ currentTarget }) => setUrl(currentTarget.value)} />
          )}
        </Field>
        <HeaderFields headers={headers} onChange={setHeaders} messageFor={(field) => messages[field]} />
        <footer>
          <button type="submit" class="button primary" disabled={save.isBusy}>
            {webhooks.form.save}
          </button>
        </footer>
      </form>
    </Modal>
  );
}
