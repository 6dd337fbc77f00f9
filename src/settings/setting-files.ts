/** Files named by settings: read and checked at the start, not when the first receiver refuses them. */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import * as tls from 'node:tls';
import { invalid } from './invalid-config.js';

const BEFORE_CERTIFICATE = /(?=-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----)/;
const ENCRYPTED = /^(?:-----BEGIN ENCRYPTED PRIVATE KEY-----|Proc-Type: 4,ENCRYPTED)/m;

/** PEM. @throws InvalidConfig that names the setting */
export function certificatesFrom(key: string, path: string): string {
  const pem = fileOf(key, path);
  // TLS silently ignores text that is not PEM, and whatever follows a damaged certificate.
  const certificates = pem.split(BEFORE_CERTIFICATE).filter((text) => BEFORE_CERTIFICATE.test(text));
  if (certificates.length === 0) throw invalid(key, 'names a file that holds no certificate in PEM');
  if (!certificates.every(isCertificate)) throw invalid(key, 'names a file with a damaged certificate');
  return pem;
}

/**
 * PEM; the CAs of Node's NODE_EXTRA_CA_CERTS where it drops them from a context that trusts further ones: Node 20. Empty
 * if the file can't be read, which Node has warned about.
 */
export function droppedCertificates(extraCaFile: string | undefined): string {
  if (extraCaFile === undefined || 'getCACertificates' in tls) return '';
  try {
    return readFileSync(extraCaFile, 'utf8');
  } catch {
    return '';
  }
}

/** The client certificate shown to receivers or brokers, and its key, in PEM. @throws InvalidConfig that names the setting */
export function clientCertificateFrom(
  certFile: string | null,
  keyFile: string | null,
  of: 'DELIVERY' | 'KAFKA' = 'DELIVERY',
): { cert?: string; key?: string } {
  if (certFile === null || keyFile === null) return {};
  const [certKey, keyKey] = [`${of}_CLIENT_CERT_FILE`, `${of}_CLIENT_KEY_FILE`] as const;
  const cert = certificatesFrom(certKey, certFile);
  const key = fileOf(keyKey, keyFile);
  try {
    tls.createSecureContext({ cert, key });
    return { cert, key };
  } catch {
    if (ENCRYPTED.test(key))
      throw invalid(keyKey, 'names an encrypted key; decrypt it: the service takes no passphrase');
    throw invalid(keyKey, `names no key in PEM that belongs to ${certKey}`);
  }
}

function isCertificate(pem: string): boolean {
  try {
    new X509Certificate(pem);
    return true;
  } catch {
    return false;
  }
}

function fileOf(key: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw invalid(key, "names a file that can't be read");
  }
}
