import type { WebhookHealth } from '../api/shapes.js';
import { Modal } from '../parts/modal.js';
import { UrlText } from '../parts/url-text.js';
import { useWebhook } from '../state/webhooks.js';
import { texts } from '../texts/texts.js';
import { RecoverForm } from './recover-form.js';
import { asked, running } from './recovering.js';
import { RecoveryProgress } from './recovery-progress.js';

export function RecoverDialog() {
  const health = asked.value;
  return health && <Open key={health.webhookId} health={health} />;
}

function Open({ health }: { health: WebhookHealth }) {
  const webhook = useWebhook(health.webhookId);
  const recovery = running.value?.webhookId === health.webhookId ? running.value : null;
  const close = () => {
    asked.value = null;
    if (running.value?.progress.state !== 'running') running.value = null;
  };
  return (
    <Modal title={texts.value.recover.title} onClose={close}>
      {webhook && (
        <p class="modal-subject">
          <UrlText url={webhook.url} />
        </p>
      )}
      {recovery ? (
        <RecoveryProgress recovery={recovery} onClose={close} />
      ) : (
        <RecoverForm health={health} onClose={close} />
      )}
    </Modal>
  );
}
