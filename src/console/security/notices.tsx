import { useState } from 'preact/hooks';
import { put, remove } from '../api/client.js';
import { ActionButton } from '../parts/action.js';
import { Button } from '../parts/button.js';
import { Card } from '../parts/card.js';
import { Modal } from '../parts/modal.js';
import { Untrusted, UrlText } from '../parts/text.js';
import { useGot } from '../state/polled.js';
import { may } from '../state/session.js';
import { say } from '../state/toast.js';
import { texts } from '../texts/texts.js';
import { headersOf } from '../webhooks/header-fields.js';
import { Test } from '../webhooks/test-result.js';
import { UrlForm } from '../webhooks/url-form.js';

/** Where the account is told that a URL fails or was switched off. */
export function Notices() {
  const found = useGot('/api/notices', {}, { everyMs: 15_000 });
  const [isEditing, edit] = useState(false);
  const { security, webhooks } = texts.value;
  const t = security.notices;
  const [isTested, setTested] = useState(false);
  return (
    <Card title={t.title} text={t.text} of={found}>
      {({ url, headers }) => (
        <div class="stack">
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
                {url ? webhooks.edit : t.set}
              </Button>
              {url && <Test of="notices" isBegun={isTested} />}
              {url && (
                <ActionButton
                  kind="danger"
                  call={() => remove('/api/notices')}
                  question={{ ...t.removing, yes: texts.value.remove, isDanger: true }}
                  onDone={found.look}
                >
                  {texts.value.remove}
                </ActionButton>
              )}
            </div>
          )}
          {isEditing && (
            <Modal title={t.title} onClose={() => edit(false)}>
              <UrlForm
                given={{ url: url ?? '', headers: headersOf(headers) }}
                hint={webhooks.form.urlHint}
                save={(given) => put('/api/notices', given)}
                onSaved={(_, isTested) => {
                  found.look();
                  edit(false);
                  say('done', webhooks.form.saved);
                  setTested(isTested);
                }}
              />
            </Modal>
          )}
        </div>
      )}
    </Card>
  );
}
