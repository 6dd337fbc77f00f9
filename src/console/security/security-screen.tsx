import { Notice } from '../parts/notice.js';
import { may } from '../state/session.js';
import { texts } from '../texts/texts.js';
import { Sessions } from './sessions.js';
import { SigningSecrets } from './signing-secrets.js';

export function SecurityScreen() {
  const t = texts.value;
  return (
    <>
      <header class="screen-head">
        <h1>{t.security.title}</h1>
      </header>
      {may('secrets') ? (
        <div class="stack">
          <SigningSecrets />
          <Sessions />
        </div>
      ) : (
        <Notice icon="lock" title={t.missingRights.secrets}>
          <p>{t.security.noRight}</p>
        </Notice>
      )}
    </>
  );
}
