import { api, resultOf } from '../api/client.js';
import type { DetailedDelivery } from '../api/shapes.js';
import { Modal } from '../parts/modal.js';
import { say } from '../state/toast.js';
import { whyOf } from '../texts/said.js';
import { texts } from '../texts/texts.js';

interface Cancelling {
  readonly delivery: DetailedDelivery;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function CancelDelivery({ delivery: { id, sentAgain }, onClose, onDone }: Cancelling) {
  const t = texts.value.cancelling;
  const cancel = async () => {
    const result = await resultOf(api.POST('/api/deliveries/{id}/cancel', { params: { path: { id } } }));
    if (result.kind === 'failed') say('failed', whyOf(result, t.failed));
    else say('done', sentAgain ? t.doneAgain : t.done);
    onDone();
    onClose();
  };
  return (
    <Modal title={sentAgain ? t.titleAgain : t.title} onClose={onClose}>
      <p>{sentAgain ? t.explainedAgain : t.explained}</p>
      <footer>
        <button type="button" class="button" onClick={onClose}>
          {t.keep}
        </button>
        <button type="button" class="button danger" onClick={cancel}>
          {sentAgain ? t.cancelAgain : t.cancel}
        </button>
      </footer>
    </Modal>
  );
}
