import type { WebhookHealth } from '../api/shapes.js';
import { LastAnswer } from '../deliveries/last-answer.js';
import { whole } from '../format/numbers.js';
import { Icon } from '../icons/icon.js';
import { EventName } from '../parts/event-name.js';
import { RelativeTime } from '../parts/relative-time.js';
import { UrlText } from '../parts/url-text.js';
import { askRecovery } from '../recover/recovering.js';
import { addressOf } from '../state/addresses.js';
import { may } from '../state/session.js';
import { say } from '../state/toast.js';
import { setActive, type Webhook } from '../state/webhooks.js';
import { whyOf } from '../texts/said.js';
import { texts } from '../texts/texts.js';

interface ProblemParts {
  readonly health: WebhookHealth;
  readonly webhook: Webhook | null;
  readonly onChanged: () => void;
}

/** One URL that does not take its deliveries: since when, why, what waits, and the remedy. */
export function Problem({ health, webhook, onChanged }: ProblemParts) {
  const { problems: t, causes } = texts.value;
  const { webhookId, state, since, lastFailure, waiting, held, deactivatesAt } = health;
  const isOff = state === 'off';
  const outcome = waiting > 0 ? 'retrying' : held > 0 ? 'held' : 'exhausted';
  return (
    <article class={`problem ${isOff ? 'off' : 'failing'}`}>
      <span class="problem-mark">
        <Icon name={isOff ? 'pause' : 'alert'} size={18} />
      </span>
      <div class="problem-body">
        <h2>
          {webhook ? <UrlText url={webhook.url} /> : t.webhook(webhookId)}
          {webhook && (
            <small>
              <EventName type={webhook.type} />
            </small>
          )}
        </h2>
        <p class="cause">
          <b>{t.states[state]}</b> {since && <RelativeTime at={since} isLasting />}
        </p>
        {lastFailure && (
          <p>
            <LastAnswer attempt={lastFailure} /> {causes.title(lastFailure.status, lastFailure.error)}{' '}
            <span class="muted">{isOff ? t.offRemedy : causes.remedy(lastFailure.status, lastFailure.error)}</span>
          </p>
        )}
        <ul class="consequences">
          {waiting > 0 && <li>{t.waiting(waiting, whole(waiting))}</li>}
          {held > 0 && <li>{t.held(held, whole(held))}</li>}
          {deactivatesAt && !isOff && (
            <li>
              {t.switchedOff} <RelativeTime at={deactivatesAt} />
            </li>
          )}
        </ul>
      </div>
      <div class="problem-actions">
        <a class="button" href={addressOf('/deliveries', { webhookId: String(webhookId), outcome })}>
          {t.open}
        </a>
        {may('configure') && isOff && <Activate webhookId={webhookId} onDone={onChanged} />}
        {may('configure') && !isOff && (
          <button type="button" class="button primary" onClick={() => askRecovery(health)}>
            <Icon name="recover" size={14} />
            {t.recover}
          </button>
        )}
      </div>
    </article>
  );
}

/** Nothing can be recovered before. */
function Activate({ webhookId: id, onDone }: { webhookId: number; onDone: () => void }) {
  const t = texts.value.problems;
  const activate = async () => {
    const result = await setActive(id, true);
    if (result.kind === 'failed') return say('failed', whyOf(result, t.activateFailed));
    onDone();
    say('done', t.activated);
  };
  return (
    <button type="button" class="button primary" onClick={activate}>
      {t.activate}
    </button>
  );
}
