import type { SecureContext } from 'node:tls';
import { secureContextOf } from '../endpoints/guarded-connector.js';
import { certificatesIn } from '../host/pem-certificates.js';
import type { ClientCertificate } from '../http/client-certificate.js';
import type { Config } from '../settings/config.js';
import { nodeExtraCaFile } from '../settings/read-config.js';
import { certificatesFrom, clientCertificateFrom, droppedCertificates } from '../settings/setting-files.js';

/** The CAs that deliveries trust, and the certificate that they show. @throws InvalidConfig for unreadable files */
export function deliveryTrust({ delivery: { caFile, clientCertFile, clientKeyFile } }: Config): SecureContext {
  return secureContextOf({
    ...(caFile !== null && { ca: authorities(caFile) }),
    ...clientCertificateFrom(clientCertFile, clientKeyFile),
  });
}

/** What deliveries show. Hazard: the file may hold its key as well. @throws InvalidConfig for unreadable files */
export function shownCertificate({ delivery: { clientCertFile, clientKeyFile } }: Config): ClientCertificate | null {
  const chain = certificatesIn(clientCertificateFrom(clientCertFile, clientKeyFile).cert ?? '');
  const [first] = chain;
  if (!first) return null;
  const { subject, issuer, fingerprint256: fingerprint, validFrom, validTo } = first;
  const time = (text: string) => new Date(text).toISOString();
  return { subject, issuer, fingerprint, validFrom: time(validFrom), validTo: time(validTo), pem: chain.join('') };
}

function authorities(caFile: string): string {
  return `${certificatesFrom('DELIVERY_CA_FILE', caFile)}\n${droppedCertificates(nodeExtraCaFile())}`;
}
