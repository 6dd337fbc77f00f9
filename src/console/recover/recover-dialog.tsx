import { useEffect, useState } from 'preact/hooks';
import { Modal } from '../parts/modal.js';
import { Skeleton } from '../parts/skeleton.js';
import { UrlText } from '../parts/url-text.js';
import { useWebhook } from '../state/webhooks.js';
import { dialogTexts } from '../texts/dialogs.js';
import { RecoverForm } from './recover-form.js';
import { type Asked, follow, useRecoveries } from './recovering.js';
import { RecoveryProgress } from './recovery-progress.js';

export function RecoverDialog({ health, id, onClose }: Asked & { readonly onClose: () => void }) {
  const webhook = useWebhook(health.webhookId);
  const recoveries = useRecoveries();
  const [openedAt] = useState(Date.now);
  // It is still shown once it has ended.
  const [shown, show] = useState(id);
  const begin = (started: string) => {
    follow(started);
    show(started);
  };
  // A list from before the dialog was opened may call running what has ended.
  const isFresh = (recoveries.at ?? 0) >= openedAt;
  const running = recoveries.data?.recoveries.find(
    ({ webhookIds, state }) => webhookIds.includes(health.webhookId) && state === 'running',
  );
  useEffect(() => {
    recoveries.look();
  }, []);
  useEffect(() => {
    if (isFresh && running && !shown) begin(running.id);
  }, [isFresh, running?.id]);
  const close = () => {
    recoveries.look();
    onClose();
  };
  return (
    <Modal title={dialogTexts.value.recover.title} onClose={close}>
      {webhook && (
        <p class="subject">
          <UrlText url={webhook.url} />
        </p>
      )}
      {shown ? (
        <RecoveryProgress id={shown} onClose={close} />
      ) : (isFresh && !running) || recoveries.failure ? (
        <RecoverForm health={health} onStarted={begin} onClose={close} />
      ) : (
        <Skeleton lines={4} />
      )}
    </Modal>
  );
}
