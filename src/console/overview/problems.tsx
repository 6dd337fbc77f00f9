import { useRef } from 'preact/hooks';
import { all, get } from '../api/client.js';
import { percent } from '../format/numbers.js';
import { Icon } from '../icons/icon.js';
import { Button, LinkButton } from '../parts/button.js';
import { NoWebhooks } from '../parts/notice.js';
import { LastAnswer } from '../parts/outcome.js';
import { TypeNames, UrlText } from '../parts/text.js';
import { RelativeTime } from '../parts/time.js';
import { paymentsAddress } from '../payments/filters.js';
import { askRecovery } from '../recover/recovering.js';
import { webhookAddress } from '../state/addresses.js';
import { isAhead } from '../state/now.js';
import { usePolled } from '../state/polled.js';
import { may } from '../state/session.js';
import { isOff, isRecoverable, isRefusing, isWrong, type UrlHealth, type UrlState } from '../state/urls.js';
import { causeOf } from '../texts/said.js';
import { texts } from '../texts/texts.js';
import { Activate } from '../webhooks/changing.js';
import { Test } from '../webhooks/test-result.js';
import { STATE_LOOKS } from '../webhooks/url-state.js';

interface ProblemsParts {
  readonly urls: readonly UrlHealth[];
  readonly onChanged: () => void;
}

/** First what is wrong, then that the rest is well. */
export function Problems({ urls, onChanged }: ProblemsParts) {
  const shown = useRef<readonly string[]>([]);
  const t = texts.value.problems;
  if (urls.length === 0) return <NoWebhooks />;
  const wrong = inOrder(shown.current, urls.filter(isWrong));
  shown.current = wrong.map(({ url }) => url);
  const well = urls.filter((one) => !isWrong(one));
  const count = (of: UrlState) => well.filter(({ state }) => state === of).length;
  const [healthy, paused] = [count('healthy'), count('paused')];
  const isAllWell = wrong.length === 0;
  const said = [
    healthy > 0 && t.well(healthy),
    // They lose payments: nothing else says so here.
    paused > 0 && t.pausedCount(paused),
  ];
  return (
    <section class="stack">
      {wrong.map((one) => (
        <Problem key={one.url} of={one} onChanged={onChanged} />
      ))}
      {(isAllWell || healthy + paused > 0) && (
        <p class={`cluster ${isAllWell ? 'good' : 'muted'}`}>
          <Icon name={isAllWell ? 'delivered' : 'check'} />
          {said.filter(Boolean).join('; ')}
        </p>
      )}
    </section>
  );
}

/** Switched off first, then failing for longest. What is shown already keeps its place: people read it. */
function inOrder(shown: readonly string[], wrong: readonly UrlHealth[]): readonly UrlHealth[] {
  const place = ({ url }: UrlHealth) => (shown.includes(url) ? shown.indexOf(url) : shown.length);
  const severity = ({ state }: UrlHealth) => (state === 'off' ? 0 : state === 'failing' ? 1 : 2);
  const since = (one: UrlHealth) => Date.parse(one.since ?? '') || 0;
  return [...wrong].sort((a, b) => place(a) - place(b) || severity(a) - severity(b) || since(a) - since(b));
}

/** One URL that does not take its deliveries: since when, why, what waits, what follows, and the remedy. */
export function Problem({ of, onChanged }: { of: UrlHealth; onChanged: () => void }) {
  const t = texts.value.problems;
  const { url, webhooks, state, since, deactivatesAt, lastFailure } = of;
  const { tone, icon } = STATE_LOOKS[state ?? 'untried'];
  const [first] = webhooks;
  const share = of.healths.find(({ failedShare }) => failedShare)?.failedShare;
  const [cause, remedy] = lastFailure ? causeOf(lastFailure) : [];
  return (
    <article class={`card problem ${tone}`}>
      <span class="mark">
        <Icon name={icon} size={18} />
      </span>
      <div class="stack tight">
        <h2 class="cluster">
          <a href={webhookAddress(first?.id ?? 0)}>
            <UrlText url={url} />
          </a>
          <TypeNames of={webhooks} />
        </h2>
        <p class="cause">
          <b>{texts.value.states[state ?? 'untried']}</b>{' '}
          {state === 'unsteady' && share != null
            ? t.share(percent(share))
            : since && <RelativeTime at={since} isLasting />}
        </p>
        {lastFailure && state !== 'healthy' && state !== 'untried' && (
          <p>
            <LastAnswer attempt={lastFailure} /> {cause}{' '}
            <span class="muted">{state === 'off' ? t.offRemedy : remedy}</span>
          </p>
        )}
        <ul class="cluster">
          <Undelivered of={of} />
          {deactivatesAt && !isOff(of) && (
            <li class="muted note">
              {t.switchedOff} {isAhead(deactivatesAt) && <RelativeTime at={deactivatesAt} />}
            </li>
          )}
        </ul>
      </div>
      <div class="cluster">
        <LinkButton href={paymentsAddress({ url, arrived: 'incomplete' })}>{t.open}</LinkButton>
        {may('configure') && isOff(of) && <Activate webhooks={webhooks} onDone={onChanged} />}
        {may('configure') && !isOff(of) && (
          <>
            {first && isRefusing(of) && <Test of={first.id} isPrimary />}
            <Button kind={isRecoverable(of) ? 'primary' : undefined} onClick={() => askRecovery(of)}>
              {t.recover}
            </Button>
          </>
        )}
      </div>
    </article>
  );
}

/** What waits, was held and was given up. */
function Undelivered({ of: { webhooks, waiting, held } }: { of: UrlHealth }) {
  const t = texts.value.problems;
  const ids = webhooks.map(({ id }) => id);
  const ask = () => all(ids.map((id) => get('/api/webhooks/{id}', { params: { path: { id } } })));
  const detailed = usePolled(`webhooks ${ids}`, ask, { everyMs: 30_000 }).data ?? [];
  const exhausted = detailed.reduce((sum, { deliveries }) => sum + (deliveries?.exhausted ?? 0), 0);
  return (
    <>
      {waiting > 0 && <li class="muted note">{t.waiting(waiting)}</li>}
      {held > 0 && <li class="muted note">{t.held(held)}</li>}
      {exhausted > 0 && <li class="muted note">{t.givenUp(exhausted)}</li>}
    </>
  );
}
