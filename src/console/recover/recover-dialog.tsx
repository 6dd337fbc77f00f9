import { useEffect, useState } from 'preact/hooks';
import { remove } from '../api/client.js';
import type { Recovery } from '../api/shapes.js';
import { duration, whole } from '../format/numbers.js';
import { Icon } from '../icons/icon.js';
import { useAction } from '../parts/action.js';
import { Fact } from '../parts/card.js';
import { Modal } from '../parts/modal.js';
import { Skeleton } from '../parts/screen-head.js';
import { UrlText } from '../parts/text.js';
import { useGot } from '../state/polled.js';
import { may } from '../state/session.js';
import { texts } from '../texts/texts.js';
import { RecoverForm } from './recover-form.js';
import { type Asked, isOf, LOOKS, shownState, useRecoveries } from './recovering.js';

export function RecoverDialog({ of, id, onClose }: Asked & { readonly onClose: () => void }) {
  const recoveries = useRecoveries();
  const [openedAt] = useState(Date.now);
  // It is still shown once it has ended.
  const [shown, show] = useState(id);
  // A list from before the dialog was opened may call running what has ended.
  const isFresh = (recoveries.at ?? 0) >= openedAt;
  const running = recoveries.data?.recoveries.find((one) => one.state === 'running' && isOf(one, of));
  useEffect(() => {
    recoveries.look();
  }, []);
  useEffect(() => {
    if (isFresh && running && !shown) show(running.id);
  }, [isFresh, running?.id]);
  const close = () => {
    recoveries.look();
    onClose();
  };
  return (
    <Modal title={texts.value.dialogs.recover.title} onClose={close}>
      <p class="subject">
        <UrlText url={of.url} />
      </p>
      {shown ? (
        <RecoveryProgress id={shown} onClose={close} />
      ) : (isFresh && !running) || recoveries.failure ? (
        <RecoverForm of={of} onStarted={show} onClose={close} />
      ) : (
        <Skeleton lines={4} />
      )}
    </Modal>
  );
}

const EVERY_MS = 1_000;

function RecoveryProgress({ id, onClose }: { id: string; onClose: () => void }) {
  const asked = useGot('/api/recoveries/{id}', { path: { id } }, { everyMs: EVERY_MS });
  const { recover: shared, close, dialogs } = texts.value;
  const t = dialogs.recover;
  const stop = useAction({
    call: () => remove('/api/recoveries/{id}', id),
    done: null,
    failed: t.failed,
    onDone: asked.look,
  });
  if (!asked.data) return <Skeleton lines={4} of={asked} />;
  const { state, count, sent, delivered, failed, passedBy, perSecond } = asked.data;
  const awaited = sent - delivered - failed;
  const shown = shownState(asked.data);
  const note = noteOf(asked.data);
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
          <button type="button" class="button danger" disabled={stop.isBusy} onClick={stop.start}>
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
  const t = texts.value.dialogs.recover;
  if (state === 'running') return t.mayClose;
  if (state === 'stopped') return t.stoppedExplained;
  const awaited = sent - delivered - failed;
  if (awaited > 0) return t.awaitedExplained(awaited, whole(awaited));
  return failed > 0 ? t.doneExplained : null;
}
