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
export function LastEvent({ of: { state, since, lastFailure, lastSuccessAt } }: { of: UrlHealth }) {
  const { webhooks: t } = texts.value;
  const hasFailed = lastFailure && (state === 'failing' || !lastSuccessAt);
  return (
    <small>
      {state === 'off' || state === 'paused' ? (
        <>
          {since && <RelativeTime at={since} isLasting />}
          {state === 'paused' && <b class="warn"> {t.pausedLoses}</b>}
        </>
      ) : hasFailed ? (
        <>
          {t.lastFailure} <RelativeTime at={lastFailure.at} />: <LastAnswer attempt={lastFailure} />
        </>
      ) : lastSuccessAt ? (
        <>
          {t.lastSuccess} <RelativeTime at={lastSuccessAt} />
        </>
      ) : (
        state && t.noEvent
      )}
    </small>
  );
}
