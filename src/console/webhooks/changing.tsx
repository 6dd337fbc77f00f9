/** What changes a webhook with one call, after a question where it cannot be taken back. */
import { useState } from 'preact/hooks';
import { api, type Result, resultOf } from '../api/client.js';
import { Icon } from '../icons/icon.js';
import { Modal } from '../parts/modal.js';
import { UrlText } from '../parts/url-text.js';
import { say } from '../state/toast.js';
import { setActive, type Webhook } from '../state/webhooks.js';
import { texts } from '../texts/texts.js';
import { webhookTexts } from '../texts/webhooks.js';

interface Changing {
  readonly webhook: Webhook;
  readonly onChanged: () => void;
}

export function PauseOrActivate({ webhook, onChanged }: Changing) {
  const [isAsking, ask] = useState(false);
  const t = webhookTexts.value;
  const change = async () => {
    ask(false);
    const done = webhook.isActive ? t.paused : t.activated;
    if (isDone(await setActive(webhook.id, !webhook.isActive), done)) onChanged();
  };
  return (
    <>
      <button
        type="button"
        class={webhook.isActive ? 'button' : 'button primary'}
        onClick={webhook.isActive ? () => ask(true) : change}
      >
        {webhook.isActive ? t.pause : t.activate}
      </button>
      {isAsking && <Question of={t.pausing} webhook={webhook} onYes={change} onClose={() => ask(false)} />}
    </>
  );
}

export function Remove({ webhook, onChanged, isIcon = false }: Changing & { isIcon?: boolean }) {
  const [isAsking, ask] = useState(false);
  const t = webhookTexts.value;
  const remove = async () => {
    ask(false);
    const params = { path: { id: webhook.id } };
    if (isDone(await resultOf(api.DELETE('/api/webhooks/{id}', { params })), t.removed)) onChanged();
  };
  return (
    <>
      {isIcon ? (
        <button
          type="button"
          class="button ghost square"
          title={t.remove}
          aria-label={t.remove}
          onClick={() => ask(true)}
        >
          <Icon name="remove" />
        </button>
      ) : (
        <button type="button" class="button danger" onClick={() => ask(true)}>
          {t.remove}
        </button>
      )}
      {isAsking && <Question of={t.removing} webhook={webhook} onYes={remove} onClose={() => ask(false)} />}
    </>
  );
}

interface QuestionParts {
  readonly of: { readonly title: string; readonly explained: string; readonly confirm: string };
  readonly webhook: Webhook;
  readonly onYes: () => void;
  readonly onClose: () => void;
}

function Question({ of, webhook, onYes, onClose }: QuestionParts) {
  return (
    <Modal title={of.title} onClose={onClose}>
      <p class="modal-subject">
        <UrlText url={webhook.url} />
      </p>
      <p>{of.explained}</p>
      <footer>
        <button type="button" class="button" onClick={onClose}>
          {texts.value.cancel}
        </button>
        <button type="button" class="button danger" onClick={onYes}>
          {of.confirm}
        </button>
      </footer>
    </Modal>
  );
}

function isDone(result: Result<unknown>, done: string): boolean {
  if (result.kind === 'failed') say('failed', result.message ?? webhookTexts.value.failed);
  else say('done', done);
  return result.kind !== 'failed';
}
