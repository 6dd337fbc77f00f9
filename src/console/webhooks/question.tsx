import { Modal } from '../parts/modal.js';
import { UrlText } from '../parts/url-text.js';
import type { Webhook } from '../state/webhooks.js';
import { texts } from '../texts/texts.js';

interface QuestionParts {
  readonly of: { readonly title: string; readonly explained: string; readonly confirm: string };
  readonly webhook: Webhook;
  readonly onYes: () => void;
  readonly onClose: () => void;
}

export function Question({ of, webhook, onYes, onClose }: QuestionParts) {
  return (
    <Modal title={of.title} onClose={onClose}>
      <p class="subject">
        <UrlText url={webhook.url} />
      </p>
      <p>{of.explained}</p>
      <footer>
        <button type="button" class="button" onClick={onClose}>
          {texts.value.cancel}
        </button>
        <button type="button" class="button danger" onClick={onYes}>
          {of.confirm}
        </button>
      </footer>
    </Modal>
  );
}
