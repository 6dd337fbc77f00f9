import { useLayoutEffect } from 'preact/hooks';
import { Icon } from '../icons/icon.js';
import { openDialogs, toast } from '../state/toast.js';
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
  const shown = isInDialog || openDialogs.value === 0 ? toast.value : null;
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
