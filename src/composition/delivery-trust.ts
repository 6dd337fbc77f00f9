import type { SecureContext } from 'node:tls';
import { secureContextOf } from '../endpoints/guarded-connector.js';
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

function authorities(caFile: string): string {
  return `${certificatesFrom('DELIVERY_CA_FILE', caFile)}\n${droppedCertificates(nodeExtraCaFile())}`;
}
