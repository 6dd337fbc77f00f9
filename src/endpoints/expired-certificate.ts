/** The expired certificate of a receiver's chain. Its names are chosen by the receiver, so they are cut. */
import type { X509Certificate } from 'node:crypto';

/** As in the port of the same name. */
export interface ExpiredCertificate {
  /** The common name of its subject, or else of its issuer; null if it has neither. */
  readonly name: string | null;
  /** ISO 8601; null if the receiver did not send the certificate: then it is the authority that the service trusts. */
  readonly expiredAt: string | null;
}

/** RFC 5280, appendix A.1: ub-common-name. */
const MAX_NAME_CHARACTERS = 64;
/** Common chains have three certificates. */
const MAX_CERTIFICATES = 10;
/** Of a distinguished name, before it is split into lines. */
const MAX_SUBJECT_CHARACTERS = 2_048;

/** @param leaf with the certificates that the receiver sent as its issuers @param now ms since the epoch */
export function findExpired(leaf: X509Certificate, now: number): ExpiredCertificate | null {
  let last = leaf;
  for (let count = 0; count < MAX_CERTIFICATES; count += 1) {
    const endsAt = Date.parse(last.validTo);
    if (endsAt < now) return { name: toName(last), expiredAt: new Date(endsAt).toISOString() };
    const { issuerCertificate: issuer } = last;
    if (!issuer) return { name: toCommonName(last.issuer), expiredAt: null };
    last = issuer;
  }
  return null;
}

const toName = ({ subject, issuer }: X509Certificate) => toCommonName(subject) ?? toCommonName(issuer);

/** @param name one attribute a line; OpenSSL escapes line ends and control characters. Undefined if it has no attributes */
function toCommonName(name: string | undefined): string | null {
  const lines = (name ?? '').slice(0, MAX_SUBJECT_CHARACTERS).split('\n');
  const common = lines.findLast((line) => line.startsWith('CN='))?.slice('CN='.length);
  return common ? [...common].slice(0, MAX_NAME_CHARACTERS).join('') : null;
}
