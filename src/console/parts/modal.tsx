import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Icon } from '../icons/icon.js';
import { texts } from '../texts/texts.js';

interface ModalParts {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** The browser's own dialog: it keeps the focus, and Escape closes it. */
export function Modal({ title, onClose, children }: ModalParts) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const opener = document.activeElement;
    dialog.current?.showModal();
    // The browser does so for one that is closed, not for one that is removed.
    return () => opener instanceof HTMLElement && opener.focus();
  }, []);
  const closeOutside = (event: MouseEvent) => event.target === dialog.current && onClose();
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape does the same
    <dialog ref={dialog} aria-labelledby={id} onClose={onClose} onClick={closeOutside}>
      <div class="modal">
        <header>
          <h2 id={id}>{title}</h2>
          <button type="button" class="button ghost square" aria-label={texts.value.close} onClick={onClose}>
            <Icon name="close" />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}
