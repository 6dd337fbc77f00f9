import { full } from '../format/times.js';
import { Copied, CopyButton } from '../parts/copy-button.js';
import { Fact } from '../parts/fact.js';
import { Untrusted } from '../parts/untrusted.js';
import { useGot } from '../state/polled.js';
import { securityTexts } from '../texts/security.js';
import { SecurityCard } from './security-card.js';

/** For receivers that demand one (mutual TLS). */
export function ClientCertificate() {
  const found = useGot('/api/client-certificate', {}, { everyMs: 60_000 });
  const t = securityTexts.value.certificate;
  return (
    <SecurityCard title={t.title} text={found.data?.certificate === null ? t.none : t.text} of={found} lines={3}>
      {({ certificate }) =>
        certificate && (
          <div class="stack certificate">
            <dl class="facts">
              <Fact name={t.subject}>
                <Untrusted text={inOneLine(certificate.subject)} />
              </Fact>
              <Fact name={t.issuer}>
                <Untrusted text={inOneLine(certificate.issuer)} />
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
    </SecurityCard>
  );
}

const inOneLine = (name: string) => name.replaceAll('\n', ', ');
