import { Notice } from '../parts/notice.js';
import { ScreenHead } from '../parts/screen-head.js';
import { may } from '../state/session.js';
import { securityTexts } from '../texts/security.js';
import { texts } from '../texts/texts.js';
import { ClientCertificate } from './client-certificate.js';
import { Credentials } from './credentials.js';
import { Sessions } from './sessions.js';
import { SigningSecrets } from './signing-secrets.js';

export function SecurityScreen() {
  const t = securityTexts.value;
  const { screens, missingRights } = texts.value;
  return (
    <>
      <ScreenHead title={screens.security} />
      <div class="stack">
        {may('secrets') ? (
          <>
            <SigningSecrets />
            <Sessions />
            <Credentials />
          </>
        ) : (
          <Notice icon="lock" title={missingRights.secrets}>
            <p>{t.noRight}</p>
          </Notice>
        )}
        <ClientCertificate />
      </div>
    </>
  );
}
