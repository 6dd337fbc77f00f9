import { useEffect, useState } from 'preact/hooks';
import { remove } from '../api/client.js';
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
import { isOff, useUrls } from '../state/urls.js';
import { texts } from '../texts/texts.js';
import { StateBadge } from '../webhooks/url-state.js';
import { RecoverForm } from './recover-form.js';
import { asked, isOf, LOOKS, useRecoveries } from './recovering.js';

export function RecoverDialog({ webhookId }: { webhookId: number }) {
  const { urls, look: lookAtUrls } = useUrls();
  const { data, at, failure, look } = useRecoveries();
  const of = urls?.find(({ webhooks }) => webhooks.some(({ id }) => id === webhookId));
  // What was known before may have ended.
  const [openedAt] = useState(Date.now);
  // It is still shown once it has ended.
  const [shown, show] = useState<string | null>(null);
  const running = data?.recoveries.find((one) => one.state === 'running' && of && isOf(one, of));
  useEffect(() => {
    // What was changed just now is known by the next answer.
    lookAtUrls();
    look();
    return look;
  }, []);
  if (running && !shown && (at ?? 0) > openedAt) show(running.id);
  const close = () => {
    asked.value = null;
  };
  return (
    <Modal title={texts.value.recover.title} onClose={close}>
      {of && <UrlText url={of.url} />}
      {shown ? (
        <RecoveryProgress id={shown} onClose={close} />
      ) : of && isOff(of) ? (
        <StateBadge state={of.state} />
      ) : of?.state && ((data && !running) || failure) ? (
        <RecoverForm of={of} onStarted={show} onClose={close} />
      ) : (
        <Skeleton />
      )}
    </Modal>
  );
}

const EVERY_MS = 1_000;

function RecoveryProgress({ id, onClose }: { id: string; onClose: () => void }) {
  const polled = useGot('/api/recoveries/{id}', { path: { id } }, { everyMs: EVERY_MS });
  const recovery = polled.data;
  const { recover: t, close, outcomes, waits } = texts.value;
  if (!recovery) return <Skeleton of={polled} />;
  const { state, count, sent, delivered, failed, passedBy, perSecond } = recovery;
  const awaited = sent - delivered - failed;
  const { tone, icon } = LOOKS[state];
  return (
    <>
      <p class={`cluster ${tone}`} role="status">
        <Icon name={icon} />
        {t.states[state]}
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
      {state !== 'running' && awaited > 0 && <p class="muted">{waits['endpoint-failing']}</p>}
      <footer>
        {state === 'running' && may('configure') && (
          <ActionButton kind="danger" call={() => remove('/api/recoveries/{id}', id)} done={null} onDone={polled.look}>
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
