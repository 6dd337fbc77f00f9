import { Notice } from '../parts/notice.js';
import { may } from '../state/session.js';
import { securityTexts } from '../texts/security.js';
import { texts } from '../texts/texts.js';
import { Sessions } from './sessions.js';
import { SigningSecrets } from './signing-secrets.js';

export function SecurityScreen() {
  const t = securityTexts.value;
  return (
    <>
      <header class="screen-head">
        <h1>{t.title}</h1>
      </header>
      {may('secrets') ? (
        <div class="stack">
          <SigningSecrets />
          <Sessions />
        </div>
      ) : (
        <Notice icon="lock" title={texts.value.missingRights.secrets}>
          <p>{t.noRight}</p>
        </Notice>
      )}
    </>
  );
}
