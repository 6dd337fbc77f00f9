import { useState } from 'preact/hooks';
import { type Failure, post, type Result } from '../api/client.js';
import { Icon } from '../icons/icon.js';
import { useAction } from '../parts/action.js';
import { say } from '../state/toast.js';
import { useHealth } from '../state/webhooks.js';
import { whyOf } from '../texts/said.js';
import { texts } from '../texts/texts.js';
import type { Payment } from './use-payments.js';

/** What is selected, and one more attempt for each of its destinations that has not taken it. */
export function ResendSelected({ payments, onClear }: { payments: readonly Payment[]; onClear: () => void }) {
  const [sent, setSent] = useState(0);
  const isAnyFailing = useHealth().data?.webhooks.some(({ state }) => state === 'failing') ?? false;
  const { dialogs, resending: t } = texts.value;
  const asked = dialogs.resendingSelected;
  const ids = payments.flatMap(({ sentTo }) =>
    sentTo.filter(({ outcome }) => outcome !== 'delivered').map(({ deliveryId }) => deliveryId),
  );
  const action = useAction({
    call: () => resendAll(ids, setSent),
    question: {
      title: asked.title(ids.length),
      yes: sent > 0 ? asked.sending(sent, ids.length) : t.resend(ids.length),
      text: (
        <>
          <p>{asked.explained}</p>
          {isAnyFailing && <p>{asked.failing}</p>}
        </>
      ),
    },
    done: null,
    failed: '',
    onDone: (failures) => {
      const [first] = failures ?? [];
      if (first) say('failed', `${asked.someFailed(failures?.length ?? 0, ids.length)} ${whyOf(first, '')}`);
      else say('done', isAnyFailing ? `${asked.done(ids.length)} ${asked.failing}` : asked.done(ids.length));
      setSent(0);
      onClear();
    },
  });
  return (
    <>
      {payments.length > 0 && (
        <section class="raised cluster selection" aria-label={t.selected(payments.length)}>
          <span>{t.selected(payments.length)}</span>
          <button type="button" class="button ghost" onClick={onClear}>
            {t.clear}
          </button>
          <button type="button" class="button primary" disabled={ids.length === 0} onClick={action.start}>
            <Icon name="resend" size={14} />
            {ids.length > 0 ? t.resend(ids.length) : t.allArrived}
          </button>
        </section>
      )}
      {action.dialog}
    </>
  );
}

/** One after the other: a page of them is within a second, and a refusal stops nothing. */
async function resendAll(ids: readonly string[], onSent: (count: number) => void): Promise<Result<Failure[]>> {
  const failures: Failure[] = [];
  for (const [index, id] of ids.entries()) {
    onSent(index + 1);
    const result = await post('/api/deliveries/{id}/resend', { params: { path: { id } } });
    if (result.kind === 'failed') failures.push(result);
  }
  return { kind: 'ok', data: failures, etag: null };
}
