import { api, resultOf } from '../api/client.js';
import type { DetailedDelivery } from '../api/shapes.js';
import { Confirm } from '../parts/confirm.js';
import { say } from '../state/toast.js';
import { dialogTexts } from '../texts/dialogs.js';
import { whyOf } from '../texts/said.js';

interface Cancelling {
  readonly delivery: DetailedDelivery;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function CancelDelivery({ delivery: { id, sentAgain }, onClose, onDone }: Cancelling) {
  const t = dialogTexts.value.cancelling;
  const cancel = async () => {
    const result = await resultOf(api.POST('/api/deliveries/{id}/cancel', { params: { path: { id } } }));
    if (result.kind === 'failed') say('failed', whyOf(result, t.failed));
    else say('done', sentAgain ? t.doneAgain : t.done);
    onDone();
    onClose();
  };
  return (
    <Confirm
      title={sentAgain ? t.titleAgain : t.title}
      yes={sentAgain ? t.cancelAgain : t.cancel}
      no={t.keep}
      isDanger
      onYes={cancel}
      onClose={onClose}
    >
      <p>{sentAgain ? t.explainedAgain : t.explained}</p>
    </Confirm>
  );
}
