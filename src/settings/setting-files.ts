/** Files named by settings: read and checked at the start, not when the first receiver refuses them. */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { invalid } from './invalid-config.js';

/** PEM. @throws InvalidConfig that names the setting */
export function certificatesFrom(key: string, path: string): string {
  const pem = fileOf(key, path);
  try {
    // TLS silently ignores text that is not PEM.
    new X509Certificate(pem);
    return pem;
  } catch {
    throw invalid(key, 'names a file that holds no certificate in PEM');
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
    createSecureContext({ cert, key });
    return { cert, key };
  } catch {
    throw invalid(keyKey, `names no key in PEM that belongs to ${certKey}`);
  }
}

function fileOf(key: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw invalid(key, "names a file that can't be read");
  }
}
