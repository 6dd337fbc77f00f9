import { useState } from 'preact/hooks';
import { type Failure, post } from '../api/client.js';
import type { Schema } from '../api/shapes.js';
import { minute } from '../format/times.js';
import { Icon } from '../icons/icon.js';
import { useAction } from '../parts/action.js';
import { Card } from '../parts/card.js';
import { CopyButton } from '../parts/copy-button.js';
import { Modal } from '../parts/modal.js';
import { TimeText } from '../parts/time.js';
import { useGot } from '../state/polled.js';
import { whyOf } from '../texts/said.js';
import { texts } from '../texts/texts.js';

export function SigningSecrets() {
  const [issued, setIssued] = useState<Schema<'IssuedSigningSecret'> | null>(null);
  const [isLeaked, setLeaked] = useState(false);
  const found = useGot('/api/signing-secrets', {}, { everyMs: 15_000 });
  const { secrets: t, rotating } = texts.value.security;
  const rotate = useAction({
    call: async () => {
      const result = await post('/api/signing-secrets', { body: { revokePrevious: isLeaked } });
      found.look();
      return result;
    },
    question: {
      title: rotating.title,
      yes: rotating.rotate,
      text: (
        <>
          <p>{isLeaked ? rotating.revokes : rotating.explained}</p>
          <label class="check">
            <input
              type="checkbox"
              checked={isLeaked}
              onChange={({ currentTarget }) => setLeaked(currentTarget.checked)}
            />
            <span>{rotating.leaked}</span>
          </label>
        </>
      ),
    },
    done: null,
    failed: (failure) => (isRefusal(failure) ? whyOf(failure, rotating.failed) : rotating.unknown),
    onDone: setIssued,
  });
  const close = () => {
    setIssued(null);
    setLeaked(false);
  };
  return (
    <>
      <Card title={t.title} text={t.text} of={found}>
        {({ secrets }) => (
          <>
            <ul class="lines secrets">
              {secrets.toReversed().map(({ issuedAt, endsAt }) => (
                <li key={issuedAt}>
                  <span>
                    <small>{t.issued}</small>
                    <TimeText at={issuedAt} />
                  </span>
                  <span>
                    <small>{endsAt ? `${t.signs} ${t.until}` : t.signs}</small>
                    {endsAt ? <TimeText at={endsAt} /> : <b class="good">{t.current}</b>}
                  </span>
                </li>
              ))}
            </ul>
            <button type="button" class="button primary" onClick={rotate.start}>
              <Icon name="refresh" size={14} />
              {t.rotate}
            </button>
          </>
        )}
      </Card>
      {rotate.dialog}
      {issued && <Issued issued={issued} isAlone={isLeaked} onClose={close} />}
    </>
  );
}

interface IssuedParts {
  readonly issued: Schema<'IssuedSigningSecret'>;
  /** Those before were revoked. */
  readonly isAlone: boolean;
  readonly onClose: () => void;
}

/** The new secret is in this dialog alone: with it, it is gone. */
function Issued({ issued: { secret, endsAt }, isAlone, onClose }: IssuedParts) {
  const t = texts.value.security.rotating;
  return (
    <Modal title={t.shownOnce} onClose={onClose} isPinned>
      <code class="code">{secret}</code>
      <p>
        {t.copyNow} {isAlone ? t.revoked : t.keep(minute(new Date(endsAt)))}
      </p>
      <footer>
        <CopyButton isNamed what={t.secret} value={() => secret} />
        <button type="button" class="button primary" onClick={onClose}>
          {t.done}
        </button>
      </footer>
    </Modal>
  );
}

/** Otherwise no answer came, or one of a proxy: a secret may have been issued. */
const isRefusal = ({ status }: Failure) => status !== null && status < 500;
