import { useLayoutEffect } from 'preact/hooks';
import { hourMinute } from '../format/times.js';
import { Icon } from '../icons/icon.js';
import { endsSoonAt } from '../state/session.js';
import { openDialogs, toast } from '../state/toast.js';
import { texts } from '../texts/texts.js';
import { Untrusted } from './untrusted.js';

/**
 * The page has one, and so has each dialog: what is outside of an open dialog is inert, even a popover in front of it, and
 * no screen reader says it.
 */
export function ToastLine({ isInDialog = false }: { isInDialog?: boolean }) {
  useLayoutEffect(() => {
    if (!isInDialog) return;
    openDialogs.value += 1;
    return () => {
      openDialogs.value -= 1;
    };
  }, []);
  const ends = endsSoonAt.value;
  const said =
    toast.value ?? (ends && { kind: 'failed', text: texts.value.signedOut.endsSoon(hourMinute(new Date(ends))) });
  const shown = isInDialog || openDialogs.value === 0 ? said : null;
  return (
    <div class="toast" role="status">
      {shown && (
        <p class={`raised cluster ${shown.kind === 'done' ? 'good' : 'bad'}`}>
          <Icon name={shown.kind === 'done' ? 'delivered' : 'alert'} />
          <Untrusted text={shown.text} />
        </p>
      )}
    </div>
  );
}
