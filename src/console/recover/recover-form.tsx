import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { post } from '../api/client.js';
import { duration, whole } from '../format/numbers.js';
import { isoOf, localInput, minute } from '../format/times.js';
import { Icon } from '../icons/icon.js';
import { Problem } from '../parts/action.js';
import { LastAnswer } from '../parts/outcome.js';
import { webhookAddress } from '../state/addresses.js';
import { isRefusing, type UrlHealth } from '../state/urls.js';
import { causeOf, whyOf } from '../texts/said.js';
import { texts } from '../texts/texts.js';
import { INCLUDED, type Included, type PreviewState, usePreview } from './use-preview.js';

const RATES = [5, 20, 50, 100];
/** The service asks for a time: before all that it keeps. */
const EPOCH = new Date(0).toISOString();

interface FormParts {
  readonly of: UrlHealth;
  /** @param id of the recovery */
  readonly onStarted: (id: string) => void;
  readonly onClose: () => void;
}

export function RecoverForm({ of, onStarted, onClose }: FormParts) {
  const t = texts.value.dialogs.recover;
  // Not since its last success: what was given up or held before it would be left out.
  const [since, setSince] = useState('');
  const [until, setUntil] = useState('');
  const [include, setInclude] = useState<readonly Included[]>(['exhausted', 'retrying', 'held']);
  const [perSecond, setPerSecond] = useState(20);
  const [refusal, setRefusal] = useState<string | null>(null);
  const [isStarting, setStarting] = useState(false);
  const end = isoOf(until);
  const order = { since: isoOf(since) || EPOCH, ...(end && { until: end }) };
  const ids = of.webhooks.filter(({ isActive }) => isActive).map(({ id }) => id);
  const counting = usePreview(ids, order);
  const counts = counting.kind === 'counted' ? counting.counts : null;
  const count = counts ? include.reduce((sum, one) => sum + counts[one], 0) : 0;
  const toggle = (one: Included) => setInclude(INCLUDED.filter((other) => include.includes(other) !== (other === one)));
  const start = async (event: Event) => {
    event.preventDefault();
    // The history says it: the time of the first that was counted, and not 1970.
    const first = isoOf(since) || (counting.kind === 'counted' && counting.oldest) || EPOCH;
    setStarting(true);
    const body = { ...order, include: [...include], webhookIds: ids, since: first, perSecond };
    const result = await post('/api/recoveries', { body });
    setStarting(false);
    if (result.kind === 'failed') return setRefusal(whyOf(result, t.failed));
    if (result.kind === 'ok') onStarted(result.data.id);
  };
  return (
    <form class="stack" onSubmit={start}>
      <p class="muted">{t.explained}</p>
      {isRefusing(of) && <StillFails of={of} onLeave={onClose} />}
      <div class="columns fields">
        <TimeField label={t.since} hint={t.sinceHint} value={since} onChange={setSince}>
          {of.lastSuccessAt && <SinceLastSuccess at={of.lastSuccessAt} onChoose={setSince} />}
        </TimeField>
        <TimeField label={t.until} hint={t.untilHint} value={until} onChange={setUntil} />
      </div>
      <fieldset>
        <legend>{t.which}</legend>
        {INCLUDED.map((one) => (
          <label key={one} class="check">
            <input type="checkbox" checked={include.includes(one)} onChange={() => toggle(one)} />
            <span>
              {t.included[one].name} {counts && <b>{whole(counts[one])}</b>}
              <small>{t.included[one].hint}</small>
            </span>
          </label>
        ))}
      </fieldset>
      <label class="field">
        <span>{t.rate}</span>
        <select value={perSecond} onChange={({ currentTarget }) => setPerSecond(Number(currentTarget.value))}>
          {RATES.map((rate) => (
            <option key={rate} value={rate}>
              {texts.value.recover.perSecond(rate)}
            </option>
          ))}
        </select>
      </label>
      <Preview state={counting} count={count} perSecond={perSecond} isNone={include.length === 0} />
      <Problem text={refusal} />
      <footer>
        <button type="button" class="button" onClick={onClose}>
          {texts.value.cancel}
        </button>
        <button type="submit" class="button primary" disabled={count === 0 || isStarting}>
          {t.start(count)}
        </button>
      </footer>
    </form>
  );
}

function SinceLastSuccess({ at, onChoose }: { at: string; onChoose: (since: string) => void }) {
  return (
    <button type="button" class="button" onClick={() => onChoose(localInput(new Date(at)))}>
      {texts.value.dialogs.recover.sinceLastSuccess}
    </button>
  );
}

/** What is sent to a URL that still fails is refused again. */
function StillFails({ of: { webhooks, lastFailure }, onLeave }: { of: UrlHealth; onLeave: () => void }) {
  const t = texts.value.dialogs.recover;
  const [first] = webhooks;
  if (!lastFailure || !first) return null;
  return (
    <p class="callout warn">
      <Icon name="alert" />
      <span>
        {t.lastFailed} <LastAnswer attempt={lastFailure} /> {causeOf(lastFailure.status, lastFailure.error)[0]}
      </span>
      <a class="button" href={webhookAddress(first.id)} onClick={onLeave}>
        {t.testFirst}
      </a>
    </p>
  );
}

interface PreviewParts {
  readonly state: PreviewState;
  readonly count: number;
  readonly perSecond: number;
  /** Nothing is included. */
  readonly isNone: boolean;
}

/** The count before the button: how many, how long, of which time. */
function Preview({ state, count, perSecond, isNone }: PreviewParts) {
  const { preview: t } = texts.value.dialogs.recover;
  const { sends, span } = texts.value.recover.preview;
  return (
    <output class="callout preview">
      {isNone ? (
        t.none
      ) : state.kind === 'counting' ? (
        t.counting
      ) : state.kind === 'failed' ? (
        <>
          <span class="bad">
            {t.failed} {whyOf(state.failure, '')}
          </span>
          <button type="button" class="button" onClick={state.again}>
            {t.again}
          </button>
        </>
      ) : count === 0 ? (
        t.nothing
      ) : (
        <>
          <b>{sends(count, whole(count))}</b> {t.takes(perSecond, duration(Math.max(1, count / perSecond) * 1_000))}
          {state.oldest && state.newest && (
            <small>{span(minute(new Date(state.oldest)), minute(new Date(state.newest)))}</small>
          )}
        </>
      )}
    </output>
  );
}

interface TimeFieldParts {
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** Beneath the hint. */
  readonly children?: ComponentChildren;
}

/** A time, or none. A browser takes years of six digits, which Date does not. */
function TimeField({ label, hint, value, onChange, children }: TimeFieldParts) {
  return (
    <div class="field">
      <label class="field">
        <span>{label}</span>
        <input
          type="datetime-local"
          max="9999-12-31T23:59"
          value={value}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
        <small>{hint}</small>
      </label>
      {children}
    </div>
  );
}
