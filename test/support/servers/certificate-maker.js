import { generate } from 'selfsigned';

/** Before now: services whose clock is set back take them too. */
const VALID_SINCE_MS = 2 * 86_400_000;

/** @typedef {{ readonly cert: string, readonly key: string }} Certificate PEM */

/**
 * @param {string} name one of its own: OpenSSL looks CAs up by their names
 * @param {Certificate} [ca] signs it; by default it signs itself
 * @param {{ readonly notBeforeDate?: Date, readonly notAfterDate?: Date }} [validity]
 * @returns {Promise<Certificate>}
 */
export function makeAuthority(name, ca, validity = {}) {
  return make(name, {
    ...validity,
    ca,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
}

/**
 * @param {Certificate | undefined} ca signs it; without one it signs itself
 * @param {readonly string[]} names also IPv4 addresses
 * @param {{ readonly notBeforeDate?: Date, readonly notAfterDate?: Date }} [validity]
 * @returns {Promise<Certificate>} for a server or a client
 */
export function makeCertificate(ca, names, validity = {}) {
  const altNames = names.map((name) => (/^[\d.]+$/.test(name) ? { type: 7, ip: name } : { type: 2, value: name }));
  return make(names[0] ?? 'nobody', {
    ...validity,
    ...(ca && { ca }),
    extensions: [
      { name: 'extKeyUsage', serverAuth: true, clientAuth: true },
      { name: 'subjectAltName', altNames },
    ],
  });
}

async function make(commonName, options) {
  const pem = await generate([{ name: 'commonName', value: commonName }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notBeforeDate: new Date(Date.now() - VALID_SINCE_MS),
    ...options,
  });
  // Chains are joined, and this ends without a line end.
  return { cert: `${pem.cert.trim()}\n`, key: pem.private };
}
