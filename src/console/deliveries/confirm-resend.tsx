import { useState } from 'preact/hooks';
import { api, type Failure, resultOf } from '../api/client.js';
import { Confirm } from '../parts/confirm.js';
import { say } from '../state/toast.js';
import { useHealth } from '../state/webhooks.js';
import { dialogTexts } from '../texts/dialogs.js';
import { whyOf } from '../texts/said.js';
import { texts } from '../texts/texts.js';

interface Confirming {
  readonly ids: ReadonlySet<string>;
  readonly onDone: (failed: ReadonlySet<string>) => void;
  readonly onClose: () => void;
}

export function ConfirmResend({ ids, onDone, onClose }: Confirming) {
  const [sent, setSent] = useState<number | null>(null);
  const isAnyFailing = useHealth().data?.webhooks.some(({ state }) => state === 'failing') ?? false;
  const t = dialogTexts.value.resendingSelected;
  const resendAll = async () => {
    const failures = new Map<string, Failure>();
    // One after the other: a page of them is within a second, and a refusal stops nothing.
    for (const [index, id] of [...ids].entries()) {
      setSent(index);
      const result = await resultOf(api.POST('/api/deliveries/{id}/resend', { params: { path: { id } } }));
      if (result.kind === 'failed') failures.set(id, result);
    }
    const [first] = failures.values();
    if (first) say('failed', `${t.someFailed(failures.size, ids.size)} ${whyOf(first, '')}`);
    else say('done', isAnyFailing ? `${t.done(ids.size)} ${t.failing}` : t.done(ids.size));
    onDone(new Set(failures.keys()));
  };
  return (
    <Confirm
      title={t.title(ids.size)}
      yes={sent === null ? texts.value.resending.resend(ids.size) : t.sending(sent + 1, ids.size)}
      onYes={resendAll}
      onClose={onClose}
    >
      <p>{t.explained}</p>
      {isAnyFailing && <p>{t.failing}</p>}
    </Confirm>
  );
}
