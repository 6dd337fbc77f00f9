/**
 * A chain of certificates that costs a client 100 ms to verify, and needs no authority that it trusts: each of 1,600 names
 * of the server is compared with each of 600 names that each of 15 authorities excludes. OpenSSL accepts no longer chain
 * (100 KiB), and compares no more than 2^20 names for one certificate.
 */
import { generateKeyPairSync, sign } from 'node:crypto';
import type { Certificate } from './certificates.js';
import { der, derInteger, pemOf, SEQUENCE } from './der.js';

const AUTHORITIES = 15;
const NAMES = 1_600;
const EXCLUDED = 600;
const DAY_MS = 86_400_000;

const SET = 0x31;
const OCTET_STRING = 0x04;
const BIT_STRING = 0x03;
const UTF8_STRING = 0x0c;
const UTC_TIME = 0x17;
/** Context tags of a certificate's version and extensions, of a dNSName, and of excluded subtrees. */
const VERSION = 0xa0;
const EXTENSIONS = 0xa3;
const DNS_NAME = 0x82;
const EXCLUDED_SUBTREES = 0xa1;
const TRUE = Buffer.from([0x01, 0x01, 0xff]);
/** By their last bytes under 2.5.29 and 2.5.4. */
const SUBJECT_ALT_NAME = Buffer.from([0x06, 0x03, 0x55, 0x1d, 0x11]);
const BASIC_CONSTRAINTS = Buffer.from([0x06, 0x03, 0x55, 0x1d, 0x13]);
const NAME_CONSTRAINTS = Buffer.from([0x06, 0x03, 0x55, 0x1d, 0x1e]);
const COMMON_NAME = Buffer.from([0x06, 0x03, 0x55, 0x04, 0x03]);
const ECDSA_WITH_SHA256 = der(SEQUENCE, Buffer.from([0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02]));

/** For localhost. All certificates share one key. */
export function costlyChain(): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const issue = (subject: string, issuer: string, ...extensions: Buffer[]) => {
    const body = der(
      SEQUENCE,
      der(VERSION, derInteger(Buffer.from([2]))),
      derInteger(Buffer.from(subject)),
      ECDSA_WITH_SHA256,
      nameOf(issuer),
      der(SEQUENCE, timeOf(Date.now() - 2 * DAY_MS), timeOf(Date.now() + 365 * DAY_MS)),
      nameOf(subject),
      publicKey.export({ type: 'spki', format: 'der' }),
      der(EXTENSIONS, der(SEQUENCE, ...extensions)),
    );
    const signature = der(BIT_STRING, Buffer.from([0]), sign('sha256', body, privateKey));
    return pemOf('CERTIFICATE', der(SEQUENCE, body, ECDSA_WITH_SHA256, signature));
  };
  const names = ['localhost', ...labels(NAMES - 1, 'a')].map((name) => der(DNS_NAME, Buffer.from(name)));
  const excluded = labels(EXCLUDED, 'b').map((name) => der(SEQUENCE, der(DNS_NAME, Buffer.from(name))));
  const ofServer = issue('s', '0', extension(SUBJECT_ALT_NAME, ...names));
  const ofAuthorities = Array.from({ length: AUTHORITIES }, (_, n) =>
    issue(
      String(n),
      String(n + 1),
      extension(BASIC_CONSTRAINTS, TRUE),
      extension(NAME_CONSTRAINTS, der(EXCLUDED_SUBTREES, ...excluded)),
    ),
  );
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  return { cert: [ofServer, ...ofAuthorities].join(''), key };
}

function extension(id: Buffer, ...contents: Buffer[]): Buffer {
  return der(SEQUENCE, id, der(OCTET_STRING, der(SEQUENCE, ...contents)));
}

function nameOf(commonName: string): Buffer {
  return der(SEQUENCE, der(SET, der(SEQUENCE, COMMON_NAME, der(UTF8_STRING, Buffer.from(commonName)))));
}

function timeOf(ms: number): Buffer {
  return der(UTC_TIME, Buffer.from(`${new Date(ms).toISOString().replaceAll(/\D/g, '').slice(2, 14)}Z`));
}

function labels(count: number, end: string): string[] {
  return Array.from({ length: count }, (_, n) => n.toString(36).padStart(3, '0') + end);
}
