import type { WebhookHealth } from '../api/shapes.js';
import { LastAnswer } from '../deliveries/last-answer.js';
import { whole } from '../format/numbers.js';
import { Icon } from '../icons/icon.js';
import type { IconName } from '../icons/icons.js';
import { EventName } from '../parts/event-name.js';
import { RelativeTime } from '../parts/relative-time.js';
import { UrlText } from '../parts/url-text.js';
import { askRecovery } from '../recover/recovering.js';
import { addressOf, webhookAddress } from '../state/addresses.js';
import { isAhead } from '../state/now.js';
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

/** One that is well has deliveries that were held, to recover. */
const LOOKS: Readonly<Record<WebhookHealth['state'], { readonly tone: string; readonly icon: IconName }>> = {
  unsteady: { tone: 'warn', icon: 'alert' },
  failing: { tone: 'bad', icon: 'alert' },
  off: { tone: 'warn', icon: 'pause' },
  healthy: { tone: 'good', icon: 'check' },
  untried: { tone: 'good', icon: 'check' },
};

/** One URL that does not take its deliveries: since when, why, what waits, and the remedy. */
export function Problem({ health, webhook, onChanged }: ProblemParts) {
  const t = texts.value.problems;
  const { webhookId, state, offBy, since, waiting, held, deactivatesAt } = health;
  const isOff = state === 'off';
  const { tone, icon } = LOOKS[state];
  const outcome = waiting > 0 ? 'retrying' : held > 0 ? 'held' : 'exhausted';
  return (
    <article class={`card problem ${tone}`}>
      <span class="mark">
        <Icon name={icon} size={18} />
      </span>
      <div class="stack tight">
        <Subject webhookId={webhookId} webhook={webhook} />
        <p class="cause">
          <b>{offBy === 'account' ? t.paused : t.states[state]}</b> {since && <RelativeTime at={since} isLasting />}
        </p>
        {tone !== 'good' && <Cause health={health} />}
        <ul class="cluster consequences">
          {waiting > 0 && <li>{t.waiting(waiting, whole(waiting))}</li>}
          {held > 0 && <li>{t.held(held, whole(held))}</li>}
          {deactivatesAt && !isOff && (
            <li>
              {t.switchedOff} {isAhead(deactivatesAt) ? <RelativeTime at={deactivatesAt} /> : t.atNextFailure}
            </li>
          )}
        </ul>
      </div>
      <div class="cluster">
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

function Cause({ health: { lastFailure, offBy } }: { health: WebhookHealth }) {
  const { problems: t, causes } = texts.value;
  if (!lastFailure) return null;
  const { status, error } = lastFailure;
  return (
    <p>
      <LastAnswer attempt={lastFailure} /> {causes.title(status, error)}{' '}
      <span class="muted">{offBy === 'service' ? t.offRemedy : causes.remedy(status, error)}</span>
    </p>
  );
}

function Subject({ webhookId, webhook }: { webhookId: number; webhook: Webhook | null }) {
  if (!webhook) return <h2>{texts.value.problems.webhook(webhookId)}</h2>;
  return (
    <h2 class="cluster">
      <a href={webhookAddress(webhookId)}>
        <UrlText url={webhook.url} />
      </a>
      <small>
        <EventName type={webhook.type} />
      </small>
    </h2>
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
