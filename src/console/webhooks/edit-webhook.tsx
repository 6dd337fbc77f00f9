import { useEffect, useRef, useState } from 'preact/hooks';
import type { Webhook } from '../api/shapes.js';
import { Button } from '../parts/button.js';
import { Modal } from '../parts/modal.js';
import { UrlText } from '../parts/text.js';
import { askRecovery } from '../recover/recovering.js';
import { webhookAddress } from '../state/addresses.js';
import { say } from '../state/toast.js';
import type { UrlHealth } from '../state/urls.js';
import { texts } from '../texts/texts.js';
import { Test } from './test-result.js';
import { WebhookForm } from './webhook-form.js';

interface EditParts {
  /** Null: one is added. */
  readonly of: UrlHealth | null;
  /** All of the account. */
  readonly webhooks: readonly Webhook[];
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

/** The form of a URL; after "save and test", that it is saved, what the test showed, and what to do next. */
export function EditWebhook({ of, webhooks, onClose, onSaved }: EditParts) {
  const [tested, setTested] = useState<Webhook | null>(null);
  const t = texts.value.webhooks;
  const finish = (saved: Webhook, isTested: boolean) => {
    onSaved();
    if (isTested) return setTested(saved);
    say('done', t.form.saved);
    onClose();
  };
  return (
    <Modal title={tested ? t.form.saved : of ? t.form.edit : t.add} onClose={onClose}>
      {tested ? (
        <>
          <UrlText url={tested.url} />
          <Next webhook={tested} onDone={onClose} />
        </>
      ) : (
        <WebhookForm of={of} webhooks={webhooks} onSaved={finish} />
      )}
    </Modal>
  );
}

interface NextParts {
  readonly webhook: Webhook;
  readonly onDone: () => void;
}

function Next({ webhook, onDone }: NextParts) {
  const link = useRef<HTMLAnchorElement>(null);
  const t = texts.value;
  // The button that had the focus went with the form.
  useEffect(() => link.current?.focus(), []);
  const recover = () => {
    onDone();
    askRecovery({ webhooks: [webhook] });
  };
  return (
    <footer>
      <Test of={webhook.id} isBegun />
      <Button onClick={recover}>{t.problems.recover}</Button>
      <a ref={link} class="button primary" href={webhookAddress(webhook.id)} onClick={onDone}>
        {t.close}
      </a>
    </footer>
  );
}
