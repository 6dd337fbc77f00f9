import type { IconName } from '../icons/icon.js';
import { Badge, LastAnswer } from '../parts/outcome.js';
import { RelativeTime } from '../parts/time.js';
import type { UrlHealth, UrlState } from '../state/urls.js';
import { texts } from '../texts/texts.js';

const LOOKS: Readonly<Record<UrlState, { readonly icon: IconName; readonly tone: string }>> = {
  healthy: { icon: 'delivered', tone: 'good' },
  unsteady: { icon: 'alert', tone: 'warn' },
  failing: { icon: 'alert', tone: 'bad' },
  off: { icon: 'pause', tone: 'warn' },
  paused: { icon: 'pause', tone: 'muted' },
  untried: { icon: 'waiting', tone: 'muted' },
};

type Lived = Pick<UrlHealth, 'since' | 'lastFailure' | 'lastSuccessAt'> & { readonly state: UrlState };

export function StateBadge({ of: { state, lastFailure, lastSuccessAt } }: { of: Lived }) {
  const t = texts.value.webhooks.states;
  const isAgain = state === 'untried' && (lastFailure ?? lastSuccessAt) !== null;
  return <Badge look={LOOKS[state]} text={isAgain ? t.again : t[state]} />;
}

/** What happened last there. */
export function LastEvent({ of: { state, since, lastFailure, lastSuccessAt } }: { of: Lived }) {
  const { webhooks: t, problems } = texts.value;
  if (state === 'off' || state === 'paused')
    return (
      <>
        {problems.states[state]} {since && <RelativeTime at={since} />}
        {state === 'paused' && <b class="warn"> {t.pausedLoses}</b>}
      </>
    );
  if (lastFailure && (state === 'failing' || !lastSuccessAt))
    return (
      <>
        {t.lastFailure} <RelativeTime at={lastFailure.at} />: <LastAnswer attempt={lastFailure} />
      </>
    );
  if (!lastSuccessAt) return <>{t.noEvent}</>;
  return (
    <>
      {t.lastSuccess} <RelativeTime at={lastSuccessAt} />
    </>
  );
}
