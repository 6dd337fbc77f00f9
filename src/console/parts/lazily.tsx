/** What is loaded when it is shown. A page that was opened before an upgrade names chunks that are gone: its user reloads it. */
import type { ComponentType } from 'preact';
import lazy, { ErrorBoundary } from 'preact-iso/lazy';
import { texts } from '../texts/texts.js';
import { Modal } from './modal.js';
import { Notice } from './notice.js';

type Load<Props> = () => Promise<ComponentType<Props>>;

/** For a route: the router waits for it. */
export function screen(load: Load<object>) {
  return lazy(() => load().catch(() => NotLoaded));
}

/** A part of a screen, which does not wait for it. */
export function part<Props extends object>(load: Load<Props>) {
  return apart<Props>(() => load().catch(() => NotLoaded));
}

export function dialog<Props extends { readonly onClose: () => void }>(load: Load<Props>) {
  return apart<Props>(() => load().catch(() => DialogNotLoaded));
}

function apart<Props extends object>(load: Load<Props>) {
  const Lazy = lazy(load);
  return (props: Props) => (
    <ErrorBoundary>
      <Lazy {...props} />
    </ErrorBoundary>
  );
}

function NotLoaded() {
  return (
    <Notice icon="search" title={texts.value.notLoaded.title}>
      <Reload />
    </Notice>
  );
}

function DialogNotLoaded({ onClose }: { onClose: () => void }) {
  return (
    <Modal title={texts.value.notLoaded.title} onClose={onClose}>
      <footer>
        <Reload />
      </footer>
    </Modal>
  );
}

function Reload() {
  return (
    <button type="button" class="button primary" onClick={() => location.reload()}>
      {texts.value.notLoaded.reload}
    </button>
  );
}
