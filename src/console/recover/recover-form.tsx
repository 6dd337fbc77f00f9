import { useState } from 'preact/hooks';
import { api, resultOf } from '../api/client.js';
import type { Included, WebhookHealth } from '../api/shapes.js';
import { LastAnswer } from '../deliveries/last-answer.js';
import { isoOf, localInput } from '../format/times.js';
import { Icon } from '../icons/icon.js';
import { webhookAddress } from '../state/addresses.js';
import { dialogTexts } from '../texts/dialogs.js';
import { whyOf } from '../texts/said.js';
import { texts } from '../texts/texts.js';
import { Preview } from './preview.js';
import { TimeField } from './time-field.js';
import { usePreview } from './use-preview.js';

const INCLUDED = ['exhausted', 'retrying', 'held'] as const;
const RATES = [5, 20, 50, 100];
/** The service asks for a time: before all that it keeps. */
const EPOCH = new Date(0).toISOString();

interface FormParts {
  readonly health: WebhookHealth;
  /** @param id of the recovery */
  readonly onStarted: (id: string) => void;
  readonly onClose: () => void;
}

export function RecoverForm({ health, onStarted, onClose }: FormParts) {
  const t = dialogTexts.value.recover;
  // Not since its last success: what was given up or held before it would be left out.
  const [since, setSince] = useState('');
  const [until, setUntil] = useState('');
  const [include, setInclude] = useState<readonly Included[]>(INCLUDED);
  const [perSecond, setPerSecond] = useState(20);
  const [refusal, setRefusal] = useState<string | null>(null);
  const [isStarting, setStarting] = useState(false);
  const end = isoOf(until);
  const order = { since: isoOf(since) || EPOCH, ...(end && { until: end }), include: [...include] };
  const counting = usePreview(health.webhookId, order);
  const { count, oldest } = counting.kind === 'counted' ? counting.preview : { count: 0, oldest: null };
  const toggle = (one: Included) => setInclude(INCLUDED.filter((other) => include.includes(other) !== (other === one)));
  const start = async (event: Event) => {
    event.preventDefault();
    const params = { path: { id: health.webhookId } };
    // The history says it: the time of the first that was counted, and not 1970.
    const body = { ...order, since: isoOf(since) || (oldest ?? EPOCH), perSecond };
    setStarting(true);
    const result = await resultOf(api.POST('/api/webhooks/{id}/recover', { params, body }));
    setStarting(false);
    if (result.kind === 'failed') return setRefusal(whyOf(result, t.failed));
    if (result.kind === 'ok') onStarted(result.data.id);
  };
  return (
    <form class="stack" onSubmit={start}>
      <p class="muted">{t.explained}</p>
      <StillFails health={health} onLeave={onClose} />
      <div class="columns fields">
        <TimeField label={t.since} hint={t.sinceHint} value={since} onChange={setSince}>
          {health.lastSuccessAt && <SinceLastSuccess at={health.lastSuccessAt} onChoose={setSince} />}
        </TimeField>
        <TimeField label={t.until} hint={t.untilHint} value={until} onChange={setUntil} />
      </div>
      <fieldset>
        <legend>{t.which}</legend>
        {INCLUDED.map((one) => (
          <label key={one} class="check">
            <input type="checkbox" checked={include.includes(one)} onChange={() => toggle(one)} />
            <span>
              {t.included[one].name}
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
      <Preview state={counting} perSecond={perSecond} isNone={include.length === 0} />
      {refusal && (
        <p class="bad" role="alert">
          {refusal}
        </p>
      )}
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
      {dialogTexts.value.recover.sinceLastSuccess}
    </button>
  );
}

/** What is sent to a URL that still fails is refused again. */
function StillFails({ health, onLeave }: { health: WebhookHealth; onLeave: () => void }) {
  const { causes } = texts.value;
  const t = dialogTexts.value.recover;
  const { webhookId, lastFailure, lastSuccessAt } = health;
  if (!lastFailure || (lastSuccessAt && Date.parse(lastSuccessAt) > Date.parse(lastFailure.at))) return null;
  return (
    <p class="callout warn">
      <Icon name="alert" />
      <span>
        {t.lastFailed} <LastAnswer attempt={lastFailure} /> {causes.title(lastFailure.status, lastFailure.error)}
      </span>
      <a class="button" href={webhookAddress(webhookId)} onClick={onLeave}>
        {t.testFirst}
      </a>
    </p>
  );
}
