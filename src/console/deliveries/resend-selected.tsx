import { useState } from 'preact/hooks';
import { api, resultOf } from '../api/client.js';
import { Icon } from '../icons/icon.js';
import { Confirm } from '../parts/confirm.js';
import { say } from '../state/toast.js';
import { texts } from '../texts/texts.js';

interface Selected {
  readonly chosen: ReadonlySet<string>;
  readonly onDone: () => void;
}

/** What is selected, and one more attempt for each. */
export function ResendSelected({ chosen, onDone }: Selected) {
  const [isAsking, setAsking] = useState(false);
  const t = texts.value.resending;
  if (chosen.size === 0) return null;
  return (
    <section class="raised cluster selection" aria-label={t.selected(chosen.size)}>
      <span>{t.selected(chosen.size)}</span>
      <button type="button" class="button ghost" onClick={onDone}>
        {t.clear}
      </button>
      <button type="button" class="button primary" onClick={() => setAsking(true)}>
        <Icon name="resend" size={14} />
        {t.resend(chosen.size)}
      </button>
      {isAsking && <ConfirmResend chosen={chosen} onDone={onDone} onClose={() => setAsking(false)} />}
    </section>
  );
}

function ConfirmResend({ chosen, onDone, onClose }: Selected & { readonly onClose: () => void }) {
  const [sent, setSent] = useState<number | null>(null);
  const t = texts.value.resending;
  const resendAll = async () => {
    let failed = 0;
    // One after the other: a page of them is within a second, and a refusal stops nothing.
    for (const [index, id] of [...chosen].entries()) {
      setSent(index);
      const result = await resultOf(api.POST('/api/deliveries/{id}/resend', { params: { path: { id } } }));
      if (result.kind === 'failed') failed += 1;
    }
    say(failed > 0 ? 'failed' : 'done', failed > 0 ? t.someFailed(failed, chosen.size) : t.done(chosen.size));
    onDone();
  };
  return (
    <Confirm
      title={t.title(chosen.size)}
      yes={sent === null ? t.resend(chosen.size) : t.sending(sent + 1, chosen.size)}
      onYes={resendAll}
      onClose={onClose}
    >
      <p>{t.explained}</p>
    </Confirm>
  );
}
