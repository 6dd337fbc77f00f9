import { useEffect, useRef, useState } from 'preact/hooks';
import { Modal } from '../parts/modal.js';
import { UrlText } from '../parts/url-text.js';
import { webhookAddress } from '../state/addresses.js';
import { say } from '../state/toast.js';
import type { Webhook } from '../state/webhooks.js';
import { webhookTexts } from '../texts/webhooks.js';
import { Test, useTest } from './test-result.js';
import { WebhookForm } from './webhook-form.js';

interface EditParts {
  /** Null: one is added. */
  readonly webhook: Webhook | null;
  readonly webhooks: readonly Webhook[];
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

/** The form of a webhook; after "save and test", that it is saved, and what the test showed. */
export function EditWebhook({ webhook, webhooks, onClose, onSaved }: EditParts) {
  const [tested, setTested] = useState<Webhook | null>(null);
  const test = useTest();
  const t = webhookTexts.value;
  const finish = (saved: Webhook, isTested: boolean) => {
    onSaved();
    if (isTested) {
      setTested(saved);
      return void test.run(saved.id);
    }
    say('done', t.saved);
    onClose();
  };
  return (
    <Modal title={tested ? t.form.saved : webhook ? t.form.edit : t.form.add} onClose={onClose}>
      {tested ? (
        <>
          <p class="subject">
            <UrlText url={tested.url} />
          </p>
          <Test state={test.state} />
          <Done webhook={tested} onDone={onClose} />
        </>
      ) : (
        <WebhookForm webhook={webhook} webhooks={webhooks} onSaved={finish} />
      )}
    </Modal>
  );
}

function Done({ webhook, onDone }: { webhook: Webhook; onDone: () => void }) {
  const link = useRef<HTMLAnchorElement>(null);
  // The button that had the focus went with the form.
  useEffect(() => link.current?.focus(), []);
  return (
    <footer>
      <a ref={link} class="button primary" href={webhookAddress(webhook.id)} onClick={onDone}>
        {webhookTexts.value.form.done}
      </a>
    </footer>
  );
}
