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

/** Of a URL, or of one of its webhooks. */
type Standing = Pick<UrlHealth, 'state' | 'since' | 'lastFailure' | 'lastSuccessAt'>;

export function stateName({ state, lastFailure, lastSuccessAt }: Standing): string {
  const t = texts.value.states;
  const isAgain = state === 'untried' && (lastFailure ?? lastSuccessAt) !== null;
  return isAgain ? t.again : t[state ?? 'untried'];
}

export function StateBadge({ of }: { of: Standing }) {
  return of.state && <Badge look={STATE_LOOKS[of.state]} text={stateName(of)} />;
}

/** What happened last there. */
export function LastEvent({ of }: { of: Standing }) {
  const { state, since, lastFailure, lastSuccessAt } = of;
  const { webhooks: t } = texts.value;
  if (state === null) return null;
  if (state === 'off' || state === 'paused')
    return (
      <small>
        {stateName(of)} {since && <RelativeTime at={since} />}
        {state === 'paused' && <b class="warn"> {t.pausedLoses}</b>}
      </small>
    );
  if (lastFailure && (state === 'failing' || !lastSuccessAt))
    return (
      <small>
        {t.lastFailure} <RelativeTime at={lastFailure.at} />: <LastAnswer attempt={lastFailure} />
      </small>
    );
  if (!lastSuccessAt) return <small>{t.noEvent}</small>;
  return (
    <small>
      {t.lastSuccess} <RelativeTime at={lastSuccessAt} />
    </small>
  );
}
