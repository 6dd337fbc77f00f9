import { Notice } from '../parts/notice.js';
import { ScreenHead } from '../parts/screen-head.js';
import { may } from '../state/session.js';
import { texts } from '../texts/texts.js';
import { Notices } from './notices.js';
import { SigningSecrets } from './secrets.js';
import { Sessions } from './sessions.js';

export function SecurityScreen() {
  const t = texts.value.security;
  const { screens, missingRights } = texts.value;
  return (
    <>
      <ScreenHead title={screens.security} />
      <div class="stack">
        {may('secrets') ? <SigningSecrets /> : <Notice icon="lock" title={missingRights.secrets} text={t.noRight} />}
        <Notices />
        {may('secrets') && <Sessions />}
      </div>
    </>
  );
}
