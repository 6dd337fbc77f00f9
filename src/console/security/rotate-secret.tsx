import { useState } from 'preact/hooks';
import { api, type Failure, resultOf } from '../api/client.js';
import type { components } from '../api/openapi.js';
import { minute } from '../format/times.js';
import { Confirm } from '../parts/confirm.js';
import { CopyButton } from '../parts/copy-button.js';
import { Modal } from '../parts/modal.js';
import { whyOf } from '../texts/said.js';
import { securityTexts } from '../texts/security.js';

interface Rotating {
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** The new secret is in this dialog alone: with it, it is gone. */
export function RotateSecret({ onClose, onDone }: Rotating) {
  const [issued, setIssued] = useState<components['schemas']['IssuedSigningSecret'] | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const t = securityTexts.value.rotating;
  const rotate = async () => {
    setProblem(null);
    const result = await resultOf(api.POST('/api/signing-secrets'));
    onDone();
    if (result.kind === 'ok') setIssued(result.data);
    if (result.kind === 'failed') setProblem(isRefusal(result) ? whyOf(result, t.failed) : t.unknown);
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
    <Confirm key="asked" title={t.title} yes={t.rotate} onYes={rotate} onClose={onClose}>
      <p>{t.explained}</p>
      {problem && (
        <p class="bad" role="alert">
          {problem}
        </p>
      )}
    </Confirm>
  );
}

/** Otherwise no answer came, or one of a proxy: a secret may have been issued. */
const isRefusal = ({ status }: Failure) => status !== null && status < 500;
