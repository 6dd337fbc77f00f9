import { useEffect, useState } from 'preact/hooks';
import { remove } from '../api/client.js';
import type { Recovery } from '../api/shapes.js';
import { duration, whole } from '../format/numbers.js';
import { Icon } from '../icons/icon.js';
import { ActionButton } from '../parts/action.js';
import { Button } from '../parts/button.js';
import { Fact } from '../parts/card.js';
import { Modal } from '../parts/modal.js';
import { Skeleton } from '../parts/screen-head.js';
import { UrlText } from '../parts/text.js';
import { useGot } from '../state/polled.js';
import { may } from '../state/session.js';
import { texts } from '../texts/texts.js';
import { RecoverForm } from './recover-form.js';
import { type Asked, asked, awaitedOf, isOf, lookOf, useRecoveries } from './recovering.js';

export function RecoverDialog({ of, id }: Asked) {
  const { data, failure, look } = useRecoveries();
  // It is still shown once it has ended.
  const [shown, show] = useState(id);
  const running = data?.recoveries.find((one) => one.state === 'running' && isOf(one, of));
  useEffect(() => look, []);
  useEffect(() => {
    if (running && !shown) show(running.id);
  }, [running?.id]);
  const close = () => {
    asked.value = null;
  };
  return (
    <Modal title={texts.value.recover.title} onClose={close}>
      <UrlText url={of.url} />
      {shown ? (
        <RecoveryProgress id={shown} onClose={close} />
      ) : (data && !running) || failure ? (
        <RecoverForm of={of} onStarted={show} onClose={close} />
      ) : (
        <Skeleton lines={4} />
      )}
    </Modal>
  );
}

const EVERY_MS = 1_000;

function RecoveryProgress({ id, onClose }: { id: string; onClose: () => void }) {
  const polled = useGot('/api/recoveries/{id}', { path: { id } }, { everyMs: EVERY_MS });
  const recovery = polled.data;
  const { recover: t, close, outcomes } = texts.value;
  if (!recovery) return <Skeleton lines={4} of={polled} />;
  const { state, count, sent, delivered, failed, passedBy, perSecond } = recovery;
  const awaited = awaitedOf(recovery);
  const { tone, icon, name } = lookOf(recovery);
  const note = noteOf(recovery);
  return (
    <>
      <p class={`cluster ${tone}`} role="status">
        <Icon name={icon} />
        {name}
        {state === 'running' && count > sent && <small>{t.left(duration(((count - sent) / perSecond) * 1_000))}</small>}
      </p>
      <progress max={Math.max(1, count)} value={sent} aria-label={t.sent} />
      <dl class="columns narrow">
        <Fact name={t.sent}>{t.of(sent, count)}</Fact>
        <Fact name={outcomes.delivered} tone="good">
          {whole(delivered)}
        </Fact>
        <Fact name={t.failedAgain} tone={failed > 0 ? 'bad' : ''}>
          {whole(failed)}
        </Fact>
        {passedBy ? (
          <Fact name={t.passedBy} tone="bad">
            {whole(passedBy)}
          </Fact>
        ) : null}
        {awaited > 0 && <Fact name={t.noAnswer}>{whole(awaited)}</Fact>}
      </dl>
      {note && <p class="muted">{note}</p>}
      <footer>
        {state === 'running' && may('configure') && (
          <ActionButton
            kind="danger"
            icon="stop"
            call={() => remove('/api/recoveries/{id}', id)}
            done={null}
            onDone={polled.look}
          >
            {t.stop}
          </ActionButton>
        )}
        <Button kind="primary" onClick={onClose}>
          {close}
        </Button>
      </footer>
    </>
  );
}

function noteOf(recovery: Recovery): string | null {
  const { recover: t, waits } = texts.value;
  if (recovery.state === 'running') return t.mayClose;
  return awaitedOf(recovery) > 0 ? waits['endpoint-failing'] : null;
}
