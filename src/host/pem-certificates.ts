import { X509Certificate } from 'node:crypto';

const BEFORE_CERTIFICATE = /(?=-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----)/;

/**
 * Hazard: TLS silently ignores text that is not PEM, and whatever follows a damaged certificate.
 * @throws OpenSSL's error for a damaged certificate
 */
export function certificatesIn(pem: string): X509Certificate[] {
  const texts = pem.split(BEFORE_CERTIFICATE).filter((text) => BEFORE_CERTIFICATE.test(text));
  return texts.map((text) => new X509Certificate(text));
}
