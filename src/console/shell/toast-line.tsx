import { Icon } from '../icons/icon.js';
import { Untrusted } from '../parts/untrusted.js';
import { toast } from '../state/toast.js';

export function ToastLine() {
  const shown = toast.value;
  return (
    <div class="toast" role="status">
      {shown && (
        <p class={shown.kind === 'done' ? 'good' : 'bad'}>
          <Icon name={shown.kind === 'done' ? 'delivered' : 'alert'} />
          <Untrusted text={shown.text} />
        </p>
      )}
    </div>
  );
}
