import { Button } from '../parts/button.js';
import { Modal } from '../parts/modal.js';
import { Notice } from '../parts/notice.js';
import { openSession, type SessionState } from '../state/session.js';
import { texts } from '../texts/texts.js';

/** There are no passwords here: a link from the payment company's own page signs in. */
export function SignedOut({ why, returnUrl }: Omit<Extract<SessionState, { kind: 'closed' }>, 'kind'>) {
  const t = texts.value.signedOut;
  return (
    <main class="signed-out">
      <Notice icon={why === 'unreachable' ? 'alert' : 'lock'} {...t[why]}>
        {why === 'unreachable' && (
          <Button kind="primary" onClick={openSession}>
            {texts.value.tryAgain}
          </Button>
        )}
        <GoBack returnUrl={returnUrl} target="_self" />
      </Notice>
    </main>
  );
}

/** Over the screen, which stays as it is. */
export function SessionOver({ returnUrl }: { returnUrl: string | null }) {
  const t = texts.value.signedOut;
  return (
    <Modal title={t.ended.title} isPinned onClose={() => undefined}>
      <p class="session-over">{t.ended.text}</p>
      <p>{t.kept}</p>
      <GoBack returnUrl={returnUrl} target="_blank" />
    </Modal>
  );
}

function GoBack({ returnUrl, target }: { returnUrl: string | null; target: '_self' | '_blank' }) {
  if (!returnUrl) return null;
  return (
    <a class="button primary" href={returnUrl} target={target} rel="noreferrer">
      {texts.value.signedOut.goBack}
    </a>
  );
}
