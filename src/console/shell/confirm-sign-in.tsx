import { useEffect, useState } from 'preact/hooks';
import type { SessionPreview } from '../api/shapes.js';
import { Button } from '../parts/button.js';
import { Fact } from '../parts/card.js';
import { Notice } from '../parts/notice.js';
import { Untrusted } from '../parts/text.js';
import { redeem, returnToSession } from '../state/session.js';
import { texts } from '../texts/texts.js';
import { userName } from './rail.js';

/** A double click on the page before must not answer: its second click may meet the button, or bring this window to the front. */
const READ_MS = 600;

/** Before a link signs this browser in to an account that its user may not know. */
export function ConfirmSignIn({ code, preview }: { code: string; preview: SessionPreview }) {
  const t = texts.value.confirmSignIn;
  const { account, hasOtherAccount } = preview;
  const isShown = useIsShownFor(READ_MS);
  return (
    <main class="signed-out">
      <Notice icon="alert" title={t.title(account)} text={hasOtherAccount ? t.hasOther : t.isFirst}>
        <dl class="facts">
          <Fact name={t.account}>{account}</Fact>
          <Fact name={t.user}>
            <Untrusted text={userName(preview)} />
          </Fact>
        </dl>
        <p>{t.warning}</p>
        <div class="cluster">
          <Button onClick={returnToSession}>{t.no}</Button>
          <Button kind="primary" isDisabled={!isShown} onClick={() => redeem(code)}>
            {t.yes}
          </Button>
        </div>
      </Notice>
    </main>
  );
}

/** Whether the page has been in front for a while. */
function useIsShownFor(ms: number): boolean {
  const [isShown, setIsShown] = useState(false);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const wait = () => {
      setIsShown(false);
      clearTimeout(timer);
      timer = setTimeout(() => setIsShown(true), ms);
    };
    wait();
    addEventListener('focus', wait);
    return () => {
      clearTimeout(timer);
      removeEventListener('focus', wait);
    };
  }, [ms]);
  return isShown;
}
