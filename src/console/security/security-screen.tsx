import { MissingRight } from '../parts/notice.js';
import { ScreenHead } from '../parts/screen-head.js';
import { may } from '../state/session.js';
import { texts } from '../texts/texts.js';
import { Notices } from './notices.js';
import { SigningSecrets } from './secrets.js';
import { Sessions } from './sessions.js';

export function SecurityScreen() {
  return (
    <>
      <ScreenHead title={texts.value.screens.security} />
      <div class="stack">
        {may('secrets') ? <SigningSecrets /> : <MissingRight right="secrets" />}
        <Notices />
        {may('secrets') && <Sessions />}
      </div>
    </>
  );
}
