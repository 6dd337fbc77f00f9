import { useState } from 'preact/hooks';
import { post } from '../api/client.js';
import { duration, whole } from '../format/numbers.js';
import { minute } from '../format/times.js';
import { useAction } from '../parts/action.js';
import { Button } from '../parts/button.js';
import { Check, Select, TimeInput } from '../parts/inputs.js';
import type { UrlHealth } from '../state/urls.js';
import { whyOf } from '../texts/said.js';
import { texts } from '../texts/texts.js';
import { INCLUDED, type Included, type PreviewState, usePreview } from './use-preview.js';

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
  const { recover: t, counts: names, cancel } = texts.value;
  // Not since its last success: what was given up or held before it would be left out.
  const [since, setSince] = useState('');
  const [until, setUntil] = useState('');
  const [include, setInclude] = useState<readonly Included[]>(['exhausted', 'retrying', 'held']);
  const [perSecond, setPerSecond] = useState('20');
  const order = { since: since || EPOCH, ...(until && { until }) };
  const webhookIds = of.webhooks.filter(({ isActive }) => isActive).map(({ id }) => id);
  const preview = usePreview(webhookIds, order);
  const counts = preview.kind === 'counted' ? preview.counts : null;
  const count = counts ? include.reduce((sum, one) => sum + counts[one], 0) : 0;
  const toggle = (one: Included) => setInclude(INCLUDED.filter((other) => include.includes(other) !== (other === one)));
  const recovery = useAction({
    call: () => {
      // The history says it: the time of the first that was counted, and not 1970.
      const first = since || (preview.kind === 'counted' && preview.oldest) || EPOCH;
      const body = { ...order, include: [...include], webhookIds, since: first, perSecond: Number(perSecond) };
      return post('/api/recoveries', { body });
    },
    done: null,
    onDone: (started) => started && onStarted(started.id),
  });
  const submit = (event: Event) => {
    event.preventDefault();
    recovery.start();
  };
  return (
    <form class="stack" onSubmit={submit}>
      <p class="muted">{t.explained}</p>
      <div class="columns fields">
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
            {names[one]} {counts && <b>{whole(counts[one])}</b>}
            <small>{t.included[one]}</small>
          </Check>
        ))}
      </fieldset>
      <Select
        label={t.rate}
        isLabelled
        chosen={perSecond}
        options={RATES.map((rate) => [rate, t.perSecond(rate)])}
        onChoose={setPerSecond}
      />
      <Preview state={preview} count={count} perSecond={perSecond} isNone={include.length === 0} />
      <footer>
        <Button onClick={onClose}>{cancel}</Button>
        <button type="submit" class="button primary" disabled={count === 0 || recovery.isBusy}>
          {t.start(count)}
        </button>
      </footer>
    </form>
  );
}

interface PreviewParts {
  readonly state: PreviewState;
  readonly count: number;
  readonly perSecond: string;
  /** Nothing is included. */
  readonly isNone: boolean;
}

/** The count before the button: how many, how long, of which time. */
function Preview({ state, count, perSecond, isNone }: PreviewParts) {
  const { recover: t, tryAgain } = texts.value;
  if (isNone) return <output class="callout preview">{t.none}</output>;
  if (state.kind === 'counting') return <output class="callout preview">{t.counting}</output>;
  if (state.kind === 'failed')
    return (
      <output class="callout preview">
        <span class="bad">{whyOf(state.failure, texts.value.failed)}</span>
        <Button onClick={state.again}>{tryAgain}</Button>
      </output>
    );
  if (count === 0) return <output class="callout preview">{t.nothing}</output>;
  return (
    <output class="callout preview">
      <b>{t.sends(count)}</b> {t.takes(perSecond, duration(Math.max(1, count / Number(perSecond)) * 1_000))}
      {state.oldest && state.newest && (
        <small>{t.span(minute(new Date(state.oldest)), minute(new Date(state.newest)))}</small>
      )}
    </output>
  );
}
