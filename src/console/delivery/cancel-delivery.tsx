import { api, resultOf } from '../api/client.js';
import { Modal } from '../parts/modal.js';
import { say } from '../state/toast.js';
import { whyOf } from '../texts/said.js';
import { texts } from '../texts/texts.js';

interface Cancelling {
  readonly id: string;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function CancelDelivery({ id, onClose, onDone }: Cancelling) {
  const t = texts.value.cancelling;
  const cancel = async () => {
    const result = await resultOf(api.POST('/api/deliveries/{id}/cancel', { params: { path: { id } } }));
    if (result.kind === 'failed') say('failed', whyOf(result, t.failed));
    else say('done', t.done);
    onDone();
    onClose();
  };
  return (
    <Modal title={t.title} onClose={onClose}>
      <p>{t.explained}</p>
      <footer>
        <button type="button" class="button" onClick={onClose}>
          {t.keep}
        </button>
        <button type="button" class="button danger" onClick={cancel}>
          {t.cancel}
        </button>
      </footer>
    </Modal>
  );
}
