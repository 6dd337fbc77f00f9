import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { hourMinute } from '../format/times.js';
import { Icon } from '../icons/icon.js';
import { endsSoonAt } from '../state/session.js';
import { toast } from '../state/toast.js';
import { texts } from '../texts/texts.js';
import { IconButton } from './button.js';
import { Untrusted } from './text.js';

interface ModalParts {
  readonly title: string;
  readonly onClose: () => void;
  /** Only its buttons close it: what it shows is shown once. A browser without `closedby` obeys the second Escape. */
  readonly isPinned?: boolean;
  readonly children: ComponentChildren;
}

/** The browser's own dialog: it keeps the focus, which begins on its first field, and Escape closes it. */
export function Modal({ title, onClose, isPinned = false, children }: ModalParts) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Of the layout: closed before it is removed, for what is removed while it is open gives the focus back to nothing.
  useLayoutEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    shown?.querySelector<HTMLElement>('form :is(input, select):not(:disabled)')?.focus();
    return () => shown?.close();
  }, []);
  return (
    <dialog
      class="raised"
      ref={dialog}
      aria-labelledby={id}
      closedby={isPinned ? 'none' : 'any'}
      onClose={({ currentTarget }) => currentTarget.isConnected && (isPinned ? currentTarget.showModal() : onClose())}
    >
      <div class="modal stack">
        <header class="split">
          <h2 id={id}>{title}</h2>
          {!isPinned && <IconButton icon="close" name={texts.value.close} onClick={onClose} />}
        </header>
        {children}
      </div>
      <ToastLine />
    </dialog>
  );
}

/**
 * The page has one, and so has each dialog: what is outside of an open dialog is inert, even a popover in front of it, and
 * no screen reader says it.
 */
export function ToastLine() {
  const ends = endsSoonAt.value;
  const shown =
    toast.value ?? (ends && { kind: 'failed', text: texts.value.signedOut.endsSoon(hourMinute(new Date(ends))) });
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
