import { type Failure, post, type Result } from '../api/client.js';
import type { Payment } from '../api/shapes.js';
import { ActionButton } from '../parts/action.js';
import { Button } from '../parts/button.js';
import { say } from '../state/toast.js';
import { whyOf } from '../texts/said.js';
import { texts } from '../texts/texts.js';

/** What is selected, and one more attempt for each of its destinations that has not taken it. */
export function ResendSelected({ payments, onClear }: { payments: readonly Payment[]; onClear: () => void }) {
  const { dialogs, resending: t } = texts.value;
  const asked = dialogs.resendingSelected;
  const ids = payments.flatMap(({ sentTo }) =>
    sentTo.filter(({ outcome }) => outcome !== 'delivered').map(({ deliveryId }) => deliveryId),
  );
  if (payments.length === 0) return null;
  const report = (failures: readonly Failure[] | null) => {
    const [first] = failures ?? [];
    if (first) say('failed', `${asked.someFailed(failures?.length ?? 0, ids.length)} ${whyOf(first, '')}`);
    else say('done', asked.done(ids.length));
    onClear();
  };
  return (
    <section class="raised cluster selection" aria-label={t.selected(payments.length)}>
      <span>{t.selected(payments.length)}</span>
      <Button onClick={onClear}>{texts.value.close}</Button>
      <ActionButton
        kind="primary"
        isDisabled={ids.length === 0}
        call={() => resendAll(ids)}
        question={{ title: asked.title(ids.length), yes: t.resend(ids.length), text: asked.explained }}
        done={null}
        onDone={report}
      >
        {ids.length > 0 ? t.resend(ids.length) : t.allArrived}
      </ActionButton>
    </section>
  );
}

/** One after the other: a page of them is within a second, and a refusal stops nothing. */
async function resendAll(ids: readonly string[]): Promise<Result<Failure[]>> {
  const failures: Failure[] = [];
  for (const id of ids) {
    const result = await post('/api/deliveries/{id}/resend', { params: { path: { id } } });
    if (result.kind === 'failed') failures.push(result);
  }
  return { kind: 'ok', data: failures, etag: null };
}
