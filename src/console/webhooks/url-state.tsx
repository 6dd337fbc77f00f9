import type { IconName } from '../icons/icon.js';
import { Badge, LastAnswer } from '../parts/outcome.js';
import { RelativeTime } from '../parts/time.js';
import type { UrlHealth, UrlState } from '../state/urls.js';
import { texts } from '../texts/texts.js';

export const STATE_LOOKS: Readonly<Record<UrlState, { readonly icon: IconName; readonly tone: string }>> = {
  healthy: { icon: 'delivered', tone: 'good' },
  unsteady: { icon: 'alert', tone: 'warn' },
  failing: { icon: 'alert', tone: 'bad' },
  off: { icon: 'pause', tone: 'warn' },
  paused: { icon: 'pause', tone: 'muted' },
  untried: { icon: 'waiting', tone: 'muted' },
};

export function StateBadge({ state }: { state: UrlState | null }) {
  return state && <Badge look={STATE_LOOKS[state]} text={texts.value.states[state]} />;
}

/** What happened last there. */
export function LastEvent({ of: { lastFailure, lastSuccessAt } }: { of: UrlHealth }) {
  const { webhooks: t } = texts.value;
  return (
    <small>
      {lastSuccessAt && (
        <span class="type">
          {t.lastSuccess} <RelativeTime at={lastSuccessAt} />
        </span>
      )}
      {lastFailure && (
        <span class="type">
          {t.lastFailure} <RelativeTime at={lastFailure.at} /> <LastAnswer attempt={lastFailure} />
        </span>
      )}
    </small>
  );
}
