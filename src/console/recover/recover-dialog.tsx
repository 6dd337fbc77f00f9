import { useEffect, useState } from 'preact/hooks';
import type { WebhookHealth } from '../api/shapes.js';
import { Modal } from '../parts/modal.js';
import { Skeleton } from '../parts/skeleton.js';
import { UrlText } from '../parts/url-text.js';
import { useWebhook } from '../state/webhooks.js';
import { texts } from '../texts/texts.js';
import { RecoverForm } from './recover-form.js';
import { asked, follow, useRecoveries } from './recovering.js';
import { RecoveryProgress } from './recovery-progress.js';

export function RecoverDialog() {
  const health = asked.value;
  return health && <Open key={health.webhookId} health={health} />;
}

function Open({ health }: { health: WebhookHealth }) {
  const webhook = useWebhook(health.webhookId);
  const recoveries = useRecoveries();
  const running = recoveries.data?.recoveries.find(
    ({ webhookId, state }) => webhookId === health.webhookId && state === 'running',
  );
  // It is still shown once it has ended.
  const [shown, show] = useState<string | null>(null);
  const begin = (id: string) => {
    follow(id);
    show(id);
  };
  useEffect(() => {
    if (running) begin(running.id);
  }, [running?.id]);
  const close = () => {
    asked.value = null;
    recoveries.look();
  };
  const id = shown ?? running?.id;
  return (
    <Modal title={texts.value.recover.title} onClose={close}>
      {webhook && (
        <p class="subject">
          <UrlText url={webhook.url} />
        </p>
      )}
      {id ? (
        <RecoveryProgress id={id} onClose={close} />
      ) : recoveries.data || recoveries.failure ? (
        <RecoverForm health={health} onStarted={begin} onClose={close} />
      ) : (
        <Skeleton lines={4} />
      )}
    </Modal>
  );
}
