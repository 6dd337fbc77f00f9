import { Notice } from '../parts/notice.js';
import { openSession, type SessionState } from '../state/session.js';
import { texts } from '../texts/texts.js';

/** The service takes no other return URL; the page must not run a script by a click either. */
const HTTPS = /^https:\/\//i;

/** There are no passwords here: a link from the payment company's own page signs in. */
export function SignedOut({ why, returnUrl }: Omit<Extract<SessionState, { kind: 'closed' }>, 'kind'>) {
  const t = texts.value.signedOut;
  return (
    <main class="signed-out">
      <Notice icon={why === 'unreachable' ? 'offline' : 'lock'} title={t[why].title}>
        <p>{t[why].text}</p>
        {why === 'unreachable' && (
          <button type="button" class="button primary" onClick={openSession}>
            {t.again}
          </button>
        )}
        {returnUrl && HTTPS.test(returnUrl) && (
          <a class="button primary" href={returnUrl}>
            {t.goBack}
          </a>
        )}
      </Notice>
    </main>
  );
}
