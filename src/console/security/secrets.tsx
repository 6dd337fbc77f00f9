import { useState } from 'preact/hooks';
import { type Failure, post } from '../api/client.js';
import type { IssuedSecret } from '../api/shapes.js';
import { minute } from '../format/times.js';
import { ActionButton } from '../parts/action.js';
import { Button } from '../parts/button.js';
import { Card } from '../parts/card.js';
import { CopyButton } from '../parts/copy-button.js';
import { Check } from '../parts/inputs.js';
import { Modal } from '../parts/modal.js';
import { DataTable } from '../parts/table.js';
import { TimeText } from '../parts/time.js';
import { useGot } from '../state/polled.js';
import { whyOf } from '../texts/said.js';
import { texts } from '../texts/texts.js';

export function SigningSecrets() {
  const [issued, setIssued] = useState<IssuedSecret | null>(null);
  const [isLeaked, setLeaked] = useState(false);
  const found = useGot('/api/signing-secrets', {}, { everyMs: 15_000 });
  const { secrets: t, rotating } = texts.value.security;
  const rotate = async () => {
    const result = await post('/api/signing-secrets', { body: { revokePrevious: isLeaked } });
    found.look();
    return result;
  };
  const question = (
    <>
      <p>{isLeaked ? rotating.revokes : rotating.explained}</p>
      <Check isChecked={isLeaked} onChange={() => setLeaked(!isLeaked)}>
        {rotating.leaked}
      </Check>
    </>
  );
  const close = () => {
    setIssued(null);
    setLeaked(false);
  };
  return (
    <Card title={t.title} text={t.text} of={found} isPlain>
      {({ secrets }) => (
        <div class="stack">
          <DataTable
            of={found}
            rows={secrets.toReversed()}
            columns={[
              { name: t.issued, place: 'lead', cell: ({ issuedAt }) => <TimeText at={issuedAt} /> },
              { name: t.signsUntil, cell: ({ endsAt }) => (endsAt ? <TimeText at={endsAt} /> : t.current) },
            ]}
            keyOf={({ issuedAt }) => issuedAt}
          />
          <p>
            <ActionButton
              kind="primary"
              call={rotate}
              question={{ ...rotating, text: question }}
              done={null}
              whyFailed={(failure) => (isRefusal(failure) ? whyOf(failure, rotating.failed) : rotating.unknown)}
              onDone={setIssued}
            >
              {t.rotate}
            </ActionButton>
          </p>
          {issued && <Issued issued={issued} isAlone={isLeaked} onClose={close} />}
        </div>
      )}
    </Card>
  );
}

interface IssuedParts {
  readonly issued: IssuedSecret;
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
        <Button kind="primary" onClick={onClose}>
          {t.done}
        </Button>
      </footer>
    </Modal>
  );
}

/** Otherwise no answer came, or one of a proxy: a secret may have been issued. */
const isRefusal = ({ status }: Failure) => status !== null && status < 500;
