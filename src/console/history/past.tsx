import { whole } from '../format/numbers.js';
import { minute } from '../format/times.js';
import { CopyButton } from '../parts/copy-button.js';
import { Freshness, staleness } from '../parts/freshness.js';
import { NoWebhooks } from '../parts/no-webhooks.js';
import { Notice } from '../parts/notice.js';
import { Skeleton } from '../parts/skeleton.js';
import { addressOf } from '../state/addresses.js';
import { useChanges } from '../state/changes.js';
import { useWebhooks, type Webhook } from '../state/webhooks.js';
import { texts } from '../texts/texts.js';
import { PAST } from './change-table.js';
import { compared, type Standing } from './compared.js';
import { StandingRow } from './standing-row.js';
import { TimeSlider } from './time-slider.js';

/** The list of webhooks as it stood at a time, and what differs from now. @param at null: now */
export function Past({ at, before }: { at: string | null; before: string }) {
  const t = texts.value.history;
  const known = useChanges().data;
  const then = useWebhooks(at);
  const current = useWebhooks().data?.webhooks;
  const list = then.data?.webhooks;
  const standings = list && current && compared(list, current);
  const first = known?.changes.at(-1)?.at;
  return (
    <section id={PAST} class="card" tabIndex={-1} aria-labelledby="past-title">
      <header class="card-head">
        <h2 id="past-title">{t.past}</h2>
        {at && then.failure && <Freshness of={then} />}
        {list && <CopyButton isNamed what={t.copy} value={() => copied(list)} />}
      </header>
      {known && first && <TimeSlider changes={known.changes} first={first} at={at} before={before} />}
      {known && first && (
        <p class="source muted note">
          {known.isWhole
            ? t.begins(minute(new Date(first)))
            : t.reachesBack(whole(known.changes.length), minute(new Date(first)))}
        </p>
      )}
      {standings ? (
        <div class={at ? staleness(then) : ''}>
          <Standings standings={standings} isPast={at !== null} />
        </div>
      ) : (
        then.failure === null && <Skeleton lines={3} />
      )}
    </section>
  );
}

function Standings({ standings, isPast }: { standings: readonly Standing[]; isPast: boolean }) {
  const t = texts.value.history;
  const added = standings.filter(({ mark }) => mark === 'added');
  const stood = standings.filter(({ mark }) => mark !== 'added');
  const active = stood.filter(({ webhook }) => webhook.isActive).length;
  const count = (wanted: Standing['mark']) => standings.filter(({ mark }) => mark === wanted).length;
  const isSame = count('same') === standings.length;
  if (standings.length === 0) return isPast ? <NothingThen /> : <NoWebhooks />;
  return (
    <>
      <p class="muted" role="status">
        <b>{t.count(active, stood.length - active)}</b>{' '}
        {isPast && (isSame ? t.same : t.since(added.length, count('removed'), count('changed')))}
      </p>
      <StandingList standings={stood} />
      {added.length > 0 && (
        <>
          <h3>{t.marks.added}</h3>
          <StandingList standings={added} />
        </>
      )}
    </>
  );
}

function StandingList({ standings }: { standings: readonly Standing[] }) {
  return (
    <ul class="lines standings">
      {standings.map((standing) => (
        <StandingRow key={standing.webhook.id} standing={standing} />
      ))}
    </ul>
  );
}

function NothingThen() {
  const t = texts.value.history;
  return (
    <Notice icon="history" title={t.nothingThen.title}>
      <p>{t.nothingThen.text}</p>
      <a class="button" href={addressOf('/history')}>
        {t.backToNow}
      </a>
    </Notice>
  );
}

/** Without header values: they are secrets. */
function copied(webhooks: readonly Webhook[]): string {
  const shown = webhooks.map(({ headers, ...webhook }) => ({ ...webhook, headers: Object.keys(headers) }));
  return JSON.stringify(shown, null, 2);
}
