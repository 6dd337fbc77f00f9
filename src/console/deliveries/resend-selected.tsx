import { useState } from 'preact/hooks';
import { api, type Failure, resultOf } from '../api/client.js';
import { Icon } from '../icons/icon.js';
import { Confirm } from '../parts/confirm.js';
import { say } from '../state/toast.js';
import { whyOf } from '../texts/said.js';
import { texts } from '../texts/texts.js';

type Ids = ReadonlySet<string>;

interface Selected {
  readonly chosen: Ids;
  readonly onChoose: (ids: Ids) => void;
}

/** What is selected, and one more attempt for each. */
export function ResendSelected({ chosen, onChoose }: Selected) {
  // What is asked about stays so, also while some of it leaves the list.
  const [asked, ask] = useState<Ids | null>(null);
  const t = texts.value.resending;
  const finish = (failed: Ids) => {
    ask(null);
    onChoose(failed);
  };
  return (
    <>
      {chosen.size > 0 && (
        <section class="raised cluster selection" aria-label={t.selected(chosen.size)}>
          <span>{t.selected(chosen.size)}</span>
          <button type="button" class="button ghost" onClick={() => onChoose(new Set())}>
            {t.clear}
          </button>
          <button type="button" class="button primary" onClick={() => ask(chosen)}>
            <Icon name="resend" size={14} />
            {t.resend(chosen.size)}
          </button>
        </section>
      )}
      {asked && <ConfirmResend ids={asked} onDone={finish} onClose={() => ask(null)} />}
    </>
  );
}

interface Confirming {
  readonly ids: Ids;
  readonly onDone: (failed: Ids) => void;
  readonly onClose: () => void;
}

function ConfirmResend({ ids, onDone, onClose }: Confirming) {
  const [sent, setSent] = useState<number | null>(null);
  const t = texts.value.resending;
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
    else say('done', t.done(ids.size));
    onDone(new Set(failures.keys()));
  };
  return (
    <Confirm
      title={t.title(ids.size)}
      yes={sent === null ? t.resend(ids.size) : t.sending(sent + 1, ids.size)}
      onYes={resendAll}
      onClose={onClose}
    >
      <p>{t.explained}</p>
    </Confirm>
  );
}
