import type { WebhookHealth } from '../api/shapes.js';
import { LastAnswer } from '../deliveries/last-answer.js';
import { Icon } from '../icons/icon.js';
import type { IconName } from '../icons/icons.js';
import { RelativeTime } from '../parts/relative-time.js';
import { texts } from '../texts/texts.js';
import { webhookTexts } from '../texts/webhooks.js';

const LOOKS: Readonly<Record<WebhookHealth['state'], { icon: IconName; tone: string }>> = {
  healthy: { icon: 'delivered', tone: 'good' },
  unsteady: { icon: 'alert', tone: 'warn' },
  failing: { icon: 'alert', tone: 'bad' },
  off: { icon: 'pause', tone: 'warn' },
  untried: { icon: 'waiting', tone: 'muted' },
};

export function StateBadge({ health }: { health: WebhookHealth }) {
  const { icon, tone } = LOOKS[health.state];
  const isPaused = health.offBy === 'account';
  const isAgain = health.state === 'untried' && (health.lastFailure ?? health.lastSuccessAt) !== null;
  return (
    <span class={`badge ${isPaused ? 'muted' : tone}`}>
      <Icon name={icon} size={14} />
      {webhookTexts.value.states[isPaused ? 'paused' : isAgain ? 'again' : health.state]}
    </span>
  );
}

/** What happened last at its URL. */
export function LastEvent({ health }: { health: WebhookHealth }) {
  const t = webhookTexts.value;
  const { problems } = texts.value;
  const { state, offBy, since, lastFailure, lastSuccessAt } = health;
  if (state === 'off')
    return (
      <>
        {offBy === 'service' ? problems.states.off : problems.paused} {since && <RelativeTime at={since} />}
        {offBy === 'account' && <b class="warn"> {t.pausedLoses}</b>}
      </>
    );
  if (lastFailure && (state === 'failing' || state === 'unsteady' || !lastSuccessAt))
    return (
      <>
        {t.lastFailure} <RelativeTime at={lastFailure.at} />: <LastAnswer attempt={lastFailure} />
      </>
    );
  if (!lastSuccessAt) return t.noEvent;
  return (
    <>
      {t.lastSuccess} <RelativeTime at={lastSuccessAt} />
    </>
  );
}
