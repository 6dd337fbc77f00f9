import { useState } from 'preact/hooks';
import { api, resultOf } from '../api/client.js';
import type { components } from '../api/openapi.js';
import { minute } from '../format/times.js';
import { CopyButton } from '../parts/copy-button.js';
import { Modal } from '../parts/modal.js';
import { say } from '../state/toast.js';
import { whyOf } from '../texts/said.js';
import { securityTexts } from '../texts/security.js';
import { texts } from '../texts/texts.js';

interface Rotating {
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** The new secret is in this dialog alone: with it, it is gone. */
export function RotateSecret({ onClose, onDone }: Rotating) {
  const [issued, setIssued] = useState<components['schemas']['IssuedSigningSecret'] | null>(null);
  const [isAsking, setAsking] = useState(false);
  const t = securityTexts.value.rotating;
  const rotate = async () => {
    setAsking(true);
    const result = await resultOf(api.POST('/api/signing-secrets'));
    setAsking(false);
    onDone();
    if (result.kind === 'ok') setIssued(result.data);
    if (result.kind === 'failed') say('failed', whyOf(result, t.failed));
  };
  if (issued) {
    return (
      <Modal key="issued" title={t.shownOnce} onClose={onClose} isPinned>
        <code class="code">{issued.secret}</code>
        <p>{t.keep(minute(new Date(issued.endsAt)))}</p>
        <footer>
          <CopyButton isNamed what={t.secret} value={() => issued.secret} />
          <button type="button" class="button primary" onClick={onClose}>
            {t.done}
          </button>
        </footer>
      </Modal>
    );
  }
  return (
    <Modal key="asked" title={t.title} onClose={onClose}>
      <p>{t.explained}</p>
      <footer>
        <button type="button" class="button" onClick={onClose}>
          {texts.value.cancel}
        </button>
        <button type="button" class="button primary" disabled={isAsking} onClick={rotate}>
          {t.rotate}
        </button>
      </footer>
    </Modal>
  );
}
