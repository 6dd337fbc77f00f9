import { useState } from 'preact/hooks';
import { Icon } from '../icons/icon.js';
import { dialog } from '../parts/lazily.js';
import { texts } from '../texts/texts.js';

const ConfirmResend = dialog(async () => (await import('./confirm-resend.js')).ConfirmResend);

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
