import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { texts } from '../texts/texts.js';
import { Modal } from './modal.js';

interface ConfirmParts {
  readonly title: string;
  readonly yes: string;
  readonly no?: string;
  readonly isDanger?: boolean;
  readonly onYes: () => unknown;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A question before something is done. It is done once, and the dialog stays meanwhile. */
export function Confirm({ title, yes, no = texts.value.cancel, isDanger = false, ...parts }: ConfirmParts) {
  const [isBusy, setBusy] = useState(false);
  const confirm = async () => {
    setBusy(true);
    await parts.onYes();
    setBusy(false);
  };
  return (
    <Modal title={title} onClose={parts.onClose} isPinned={isBusy}>
      {parts.children}
      <footer>
        <button type="button" class="button" disabled={isBusy} onClick={parts.onClose}>
          {no}
        </button>
        <button type="button" class={`button ${isDanger ? 'danger' : 'primary'}`} disabled={isBusy} onClick={confirm}>
          {yes}
        </button>
      </footer>
    </Modal>
  );
}
