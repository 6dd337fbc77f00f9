import { full } from '../format/times.js';
import { Card, Fact } from '../parts/card.js';
import { Copied, CopyButton } from '../parts/copy-button.js';
import { MissingRight } from '../parts/notice.js';
import { ScreenHead } from '../parts/screen-head.js';
import { DataTable } from '../parts/table.js';
import { Untrusted } from '../parts/text.js';
import { TimeText } from '../parts/time.js';
import { useGot } from '../state/polled.js';
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
        {may('secrets') && <Credentials />}
        <ClientCertificate />
      </div>
    </>
  );
}

/** The ids alone: secrets are issued by the provider, and shown once. */
function Credentials() {
  const found = useGot('/api/credentials', {}, { everyMs: 15_000 });
  const { credentials: t, secrets } = texts.value.security;
  return (
    <Card title={t.title} text={t.text} of={found} isPlain>
      {({ credentials }) => (
        <DataTable
          of={found}
          rows={credentials}
          columns={[
            { name: t.id, place: 'lead', cell: ({ clientId }) => <Copied value={clientId} what={t.id} /> },
            { name: secrets.issued, cell: ({ issuedAt }) => <TimeText at={issuedAt} /> },
          ]}
          keyOf={({ clientId }) => clientId}
        />
      )}
    </Card>
  );
}

/** For receivers that demand one (mutual TLS); where there is one. */
function ClientCertificate() {
  const found = useGot('/api/client-certificate', {}, { everyMs: 60_000 });
  const t = texts.value.security.certificate;
  if (!found.data?.certificate) return null;
  return (
    <Card title={t.title} text={t.text} of={found}>
      {({ certificate }) =>
        certificate && (
          <div class="stack">
            <dl class="facts">
              <Fact name={t.subject}>
                <Untrusted text={certificate.subject} />
              </Fact>
              <Fact name={t.issuer}>
                <Untrusted text={certificate.issuer} />
              </Fact>
              <Fact name={t.valid}>
                {full(new Date(certificate.validFrom))} – {full(new Date(certificate.validTo))}
              </Fact>
              <Fact name="SHA-256">
                <Copied value={certificate.fingerprint} what="SHA-256" />
              </Fact>
            </dl>
            <div>
              <CopyButton isNamed what="PEM" value={() => certificate.pem} />
            </div>
          </div>
        )
      }
    </Card>
  );
}
