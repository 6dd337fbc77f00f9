import { api, resultOf } from '../api/client.js';
import type { Recovery } from '../api/shapes.js';
import { duration, whole } from '../format/numbers.js';
import { Icon } from '../icons/icon.js';
import { Fact } from '../parts/fact.js';
import { Skeleton } from '../parts/skeleton.js';
import { useGot } from '../state/polled.js';
import { may } from '../state/session.js';
import { say } from '../state/toast.js';
import { dialogTexts } from '../texts/dialogs.js';
import { whyOf } from '../texts/said.js';
import { texts } from '../texts/texts.js';
import { LOOKS, shownState } from './recovering.js';

const EVERY_MS = 1_000;

export function RecoveryProgress({ id, onClose }: { id: string; onClose: () => void }) {
  const asked = useGot('/api/recoveries/{id}', { path: { id } }, { everyMs: EVERY_MS });
  const { recover: shared, close } = texts.value;
  const t = dialogTexts.value.recover;
  if (!asked.data) return <Skeleton lines={4} of={asked} />;
  const { state, count, sent, delivered, failed, passedBy, perSecond } = asked.data;
  const awaited = sent - delivered - failed;
  const shown = shownState(asked.data);
  const note = noteOf(asked.data);
  const stop = async () => {
    const result = await resultOf(api.DELETE('/api/recoveries/{id}', { params: { path: { id } } }));
    if (result.kind === 'failed') say('failed', whyOf(result, t.failed));
    asked.look();
  };
  return (
    <>
      <p class={`cluster progress-state ${LOOKS[shown].tone}`} role="status">
        <Icon name={LOOKS[shown].icon} />
        {shared.states[shown]}
        {state === 'running' && count > sent && <small>{t.left(duration(((count - sent) / perSecond) * 1_000))}</small>}
      </p>
      <progress max={Math.max(1, count)} value={sent} aria-label={shared.sent} />
      <dl class="columns tally">
        <Fact name={shared.sent}>{shared.of(whole(sent), whole(count))}</Fact>
        <Fact name={t.delivered} tone="good">
          {whole(delivered)}
        </Fact>
        <Fact name={t.failedCount} tone={failed > 0 ? 'bad' : ''}>
          {whole(failed)}
        </Fact>
        {passedBy ? (
          <Fact name={t.passedBy} tone="bad">
            {whole(passedBy)}
          </Fact>
        ) : null}
        {awaited > 0 && <Fact name={t.awaited}>{whole(awaited)}</Fact>}
      </dl>
      {note && <p class="muted">{note}</p>}
      <footer>
        {state === 'running' && may('configure') && (
          <button type="button" class="button danger" onClick={stop}>
            <Icon name="stop" size={14} />
            {t.stop}
          </button>
        )}
        <button type="button" class="button primary" onClick={onClose}>
          {close}
        </button>
      </footer>
    </>
  );
}

function noteOf({ state, sent, delivered, failed }: Recovery): string | null {
  const t = dialogTexts.value.recover;
  if (state === 'running') return t.mayClose;
  if (state === 'stopped') return t.stoppedExplained;
  const awaited = sent - delivered - failed;
  if (awaited > 0) return t.awaitedExplained(awaited, whole(awaited));
  return failed > 0 ? t.doneExplained : null;
}
