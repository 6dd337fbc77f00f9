import { full } from '../format/times.js';
import { Copied, CopyButton } from '../parts/copy-button.js';
import { Fact } from '../parts/fact.js';
import { Freshness, staleness } from '../parts/freshness.js';
import { Skeleton } from '../parts/skeleton.js';
import { Untrusted } from '../parts/untrusted.js';
import { useGot } from '../state/polled.js';
import { securityTexts } from '../texts/security.js';

/** For receivers that demand one (mutual TLS). */
export function ClientCertificate() {
  const found = useGot('/api/client-certificate', {}, { everyMs: 60_000 });
  const t = securityTexts.value.certificate;
  const certificate = found.data?.certificate;
  return (
    <section class="card stack close">
      <header class="card-head">
        <h2>{t.title}</h2>
        <Freshness of={found} />
      </header>
      <p class="muted">{certificate === null ? t.none : t.text}</p>
      {certificate && (
        <div class={`stack${staleness(found)}`}>
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
      )}
      {certificate === undefined && <Skeleton lines={3} />}
    </section>
  );
}

const inOneLine = (name: string) => name.replaceAll('\n', ', ');
