import { api, resultOf } from '../api/client.js';
import type { components } from '../api/openapi.js';
import { isolated } from '../format/untrusted.js';
import { Confirm } from '../parts/confirm.js';
import { signOut } from '../state/session.js';
import { say } from '../state/toast.js';
import { whyOf } from '../texts/said.js';
import { securityTexts } from '../texts/security.js';

interface Ending {
  readonly session: components['schemas']['PortalSession'];
  /** The one that asks. */
  readonly isMine: boolean;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function EndSession({ session, isMine, onClose, onDone }: Ending) {
  const t = securityTexts.value.ending;
  const end = async () => {
    if (isMine) {
      if (!(await signOut())) say('failed', t.failed);
      return onClose();
    }
    const result = await resultOf(api.DELETE('/api/portal-sessions/{id}', { params: { path: { id: session.id } } }));
    if (result.kind === 'failed') say('failed', whyOf(result, t.failed));
    else say('done', t.done);
    onDone();
    onClose();
  };
  return (
    <Confirm
      title={isMine ? t.mine : t.title(session.user && isolated(session.user))}
      yes={t.end}
      isDanger
      onYes={end}
      onClose={onClose}
    >
      <p>{isMine ? t.mineExplained : t.explained}</p>
    </Confirm>
  );
}
