/** Files named by settings: read and checked at the start, not when the first receiver refuses them. */
import { readFileSync } from 'node:fs';
import * as tls from 'node:tls';
import { certificatesIn } from '../host/pem-certificates.js';
import { invalid } from './invalid-config.js';
import type { Config } from './read-config.js';

const ENCRYPTED = /^(?:-----BEGIN ENCRYPTED PRIVATE KEY-----|Proc-Type: 4,ENCRYPTED)/m;

/** PEM. @throws InvalidConfig that names the setting */
export function certificatesFrom(key: string, path: string): string {
  const pem = fileOf(key, path);
  const certificates = attempted(key, 'names a file with a damaged certificate', () => certificatesIn(pem));
  if (certificates.length === 0) throw invalid(key, 'names a file that holds no certificate in PEM');
  return pem;
}

/**
 * The CAs of NODE_EXTRA_CA_CERTS, in PEM, on Node 20, which drops them from a context that trusts further CAs; else empty.
 * Empty too if the file can't be read, about which Node has warned.
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
export function clientCertificateFrom(config: Config, of: 'DELIVERY' | 'KAFKA'): { cert?: string; key?: string } {
  const [certKey, keyKey] = [`${of}_CLIENT_CERT_FILE`, `${of}_CLIENT_KEY_FILE`] as const;
  const { [certKey]: certFile, [keyKey]: keyFile } = config;
  if (certFile === null || keyFile === null) return {};
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

const fileOf = (key: string, path: string) =>
  attempted(key, "names a file that can't be read", () => readFileSync(path, 'utf8'));

function attempted<T>(key: string, says: string, work: () => T): T {
  try {
    return work();
  } catch {
    throw invalid(key, says);
  }
}
