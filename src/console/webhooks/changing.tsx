/** What changes a webhook with one call, after a question where it cannot be taken back. */

import { useState } from 'preact/hooks';
import { api, type Result, resultOf } from '../api/client.js';
import { Icon } from '../icons/icon.js';
import { say } from '../state/toast.js';
import { setActive, type Webhook } from '../state/webhooks.js';
import { whyOf } from '../texts/said.js';
import { texts } from '../texts/texts.js';
import { webhookTexts } from '../texts/webhooks.js';
import { Question } from './lazily.js';

interface Changing {
  readonly webhook: Webhook;
  /** Deliveries that wait; null: not known. */
  readonly waiting: number | null;
  readonly onChanged: () => void;
}

export function PauseOrActivate({ webhook, waiting, onChanged }: Changing) {
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
        {webhook.isActive ? t.pause : texts.value.problems.activate}
      </button>
      {isAsking && (
        <Question of={t.pausing} webhook={webhook} waiting={waiting} onYes={change} onClose={() => ask(false)} />
      )}
    </>
  );
}

export function Remove({ webhook, waiting, onChanged, isIcon = false }: Changing & { isIcon?: boolean }) {
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
      {isAsking && (
        <Question of={t.removing} webhook={webhook} waiting={waiting} onYes={remove} onClose={() => ask(false)} />
      )}
    </>
  );
}

function isDone(result: Result<unknown>, done: string): boolean {
  if (result.kind === 'failed') say('failed', whyOf(result, webhookTexts.value.failed));
  else say('done', done);
  return result.kind !== 'failed';
}
