import { api, resultOf } from '../api/client.js';
import { Modal } from '../parts/modal.js';
import { signOut } from '../state/session.js';
import { say } from '../state/toast.js';
import { texts } from '../texts/texts.js';
import { isMine, type PortalSession } from './sessions.js';

interface Ending {
  readonly session: PortalSession;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function EndSession({ session, onClose, onDone }: Ending) {
  const { ending: t, sessions } = texts.value.security;
  const mine = isMine(session);
  const end = async () => {
    if (mine) return signOut();
    const result = await resultOf(api.DELETE('/api/portal-sessions/{id}', { params: { path: { id: session.id } } }));
    if (result.kind === 'failed') say('failed', result.message ?? t.failed);
    else say('done', t.done);
    onDone();
    onClose();
  };
  return (
    <Modal title={mine ? t.mine : t.title(session.user ?? sessions.unnamed)} onClose={onClose}>
      <p>{mine ? t.mineExplained : t.explained}</p>
      <footer>
        <button type="button" class="button" onClick={onClose}>
          {texts.value.cancel}
        </button>
        <button type="button" class="button danger" onClick={end}>
          {t.end}
        </button>
      </footer>
    </Modal>
  );
}
