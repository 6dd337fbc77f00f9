import { useState } from 'preact/hooks';
import { all, get, post } from '../api/client.js';
import { duration, whole } from '../format/numbers.js';
import { minute } from '../format/times.js';
import { ActionButton } from '../parts/action.js';
import { Button } from '../parts/button.js';
import { Check, Select, TimeInput } from '../parts/inputs.js';
import { type Asking, usePolled } from '../state/polled.js';
import type { UrlHealth } from '../state/urls.js';
import { whyOf } from '../texts/said.js';
import { texts } from '../texts/texts.js';

const MEANT = ['exhausted', 'retrying', 'held'] as const;
const INCLUDED = [...MEANT, 'missed'] as const;
type Included = (typeof INCLUDED)[number];
const RATES = ['5', '20', '50', '100'];
/** The service asks for a time: before all that it keeps. */
const EPOCH = new Date(0).toISOString();

interface FormParts {
  readonly of: UrlHealth;
  /** @param id of the recovery */
  readonly onStarted: (id: string) => void;
  readonly onClose: () => void;
}

export function RecoverForm({ of, onStarted, onClose }: FormParts) {
  const { recover: t, outcomes: names, cancel, tryAgain } = texts.value;
  // Not since its last success: what was given up or held before it would be left out.
  const [since, setSince] = useState('');
  const [until, setUntil] = useState('');
  const [picked, pick] = useState<readonly Included[] | null>(null);
  const [perSecond, setPerSecond] = useState('20');
  const order = { since: since || EPOCH, ...(until && { until }) };
  const webhookIds = of.healths.filter(({ state }) => state !== 'off').map(({ webhookId }) => webhookId);
  const preview = usePreview(webhookIds, order);
  const counted = preview.data ?? [];
  // What it missed was not meant for it: it is chosen where there is nothing else. Once, for what is chosen stays.
  if (!picked && preview.data)
    pick(counted.some(({ include, count }) => include !== 'missed' && count > 0) ? MEANT : INCLUDED);
  const include = picked ?? MEANT;
  const chosen = counted.filter((one) => include.includes(one.include));
  const count = sumOf(chosen);
  const toggle = (one: Included) => pick(INCLUDED.filter((other) => include.includes(other) !== (other === one)));
  const start = () => {
    // The history says it: the time of the first that was counted, and not 1970.
    const first = since || timesOf(chosen)[0] || EPOCH;
    const body = { ...order, include: [...include], webhookIds, since: first, perSecond: Number(perSecond) };
    return post('/api/recoveries', { body });
  };
  return (
    <form class="stack">
      <p class="muted">{t.explained}</p>
      <div class="columns narrow">
        <div class="field">
          <TimeInput label={t.since} hint={t.sinceHint} at={since} onChoose={setSince} />
          {of.lastSuccessAt && <Button onClick={() => setSince(of.lastSuccessAt ?? '')}>{t.sinceLastSuccess}</Button>}
        </div>
        <TimeInput label={t.until} hint={t.untilHint} at={until} onChoose={setUntil} />
      </div>
      <fieldset>
        <legend>{t.which}</legend>
        {INCLUDED.map((one) => (
          <Check key={one} isChecked={include.includes(one)} onChange={() => toggle(one)}>
            {names[one]} {preview.data && <b>{whole(sumOf(counted.filter(({ include }) => include === one)))}</b>}
            <small>{t.included[one]}</small>
          </Check>
        ))}
      </fieldset>
      <div class="field">
        <span>{t.rate}</span>
        <Select
          label={t.rate}
          chosen={perSecond}
          options={RATES.map((rate) => [rate, t.perSecond(rate)])}
          onChoose={setPerSecond}
        />
      </div>
      <output class="callout">
        {preview.failure ? (
          <>
            <span class="bad">{whyOf(preview.failure, texts.value.failed)}</span>
            <Button onClick={preview.look}>{tryAgain}</Button>
          </>
        ) : preview.data ? (
          <Preview chosen={chosen} perSecond={perSecond} />
        ) : (
          t.counting
        )}
      </output>
      <footer>
        <Button onClick={onClose}>{cancel}</Button>
        <ActionButton
          kind="primary"
          isDisabled={count === 0}
          call={start}
          done={null}
          onDone={(started) => started && onStarted(started.id)}
        >
          {t.start(count)}
        </ActionButton>
      </footer>
    </form>
  );
}

interface Counted {
  readonly include: Included;
  readonly count: number;
  readonly oldest: string | null;
  readonly newest: string | null;
}

/** What a recovery of these webhooks would send, of each kind. */
function usePreview(webhookIds: readonly number[], span: { since: string; until?: string }) {
  const ask = ({ signal }: Asking) =>
    all(
      webhookIds.flatMap((id) =>
        INCLUDED.map(async (include) => {
          const params = { path: { id }, query: { ...span, include } };
          const result = await get('/api/webhooks/{id}/recover', { params, signal });
          return result.kind === 'ok' ? { ...result, data: { ...result.data, include } } : result;
        }),
      ),
    );
  return usePolled<Counted[]>(`recover ${webhookIds} ${JSON.stringify(span)}`, ask, { everyMs: 30_000 });
}

const sumOf = (counted: readonly Counted[]) => counted.reduce((sum, { count }) => sum + count, 0);

const timesOf = (counted: readonly Counted[]) =>
  counted.flatMap(({ oldest, newest }) => (oldest && newest ? [oldest, newest] : [])).sort();

/** The count before the button: how many, how long, of which time. */
function Preview({ chosen, perSecond }: { chosen: readonly Counted[]; perSecond: string }) {
  const { recover: t } = texts.value;
  const count = sumOf(chosen);
  const times = timesOf(chosen).map((at) => minute(new Date(at)));
  if (count === 0) return t.nothing;
  return (
    <span>
      <b>{t.sends(count)}</b> {t.takes(perSecond, duration(Math.max(1, count / Number(perSecond)) * 1_000))}
      {times.length > 0 && <small>{t.span(times[0] ?? '', times.at(-1) ?? '')}</small>}
    </span>
  );
}
