/** Checks the files named by settings: whether they are readable, have the right content, and how long they are valid. */
import { X509Certificate } from 'node:crypto';
import type { Config } from '../settings/config.js';
import { certificatesFrom, clientCertificateFrom } from '../settings/setting-files.js';
import { type Check, type Finding, fail, ok, warn } from './check.js';

const DAY_MS = 24 * 3_600_000;
const SOON_MS = 30 * DAY_MS;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** @param now ms since the epoch */
export function fileChecks({ delivery, kafka }: Config, now: number): Check[] {
  const authority = (key: string, path: string | null | undefined): Check[] =>
    path ? [{ name: key, run: () => [validity(key, certificatesFrom(key, path), now)] }] : [];
  const shown = (of: 'DELIVERY' | 'KAFKA', files: ClientFiles | null): Check[] => {
    if (files === null || files.clientCertFile === null) return [];
    const name = `${of}_CLIENT_CERT_FILE`;
    const pem = () => clientCertificateFrom(files.clientCertFile, files.clientKeyFile, of).cert ?? '';
    return [{ name, run: () => [validity(name, pem(), now)] }];
  };
  return [
    ...authority('DELIVERY_CA_FILE', delivery.caFile),
    ...shown('DELIVERY', delivery),
    ...authority('KAFKA_CA_FILE', kafka?.caFile),
    ...shown('KAFKA', kafka),
  ];
}

type ClientFiles = Pick<Config['delivery'], 'clientCertFile' | 'clientKeyFile'>;

/** Judged by the certificate that expires first. */
function validity(key: string, pem: string, now: number): Finding {
  const certificates = (pem.match(CERTIFICATE) ?? []).map((text) => new X509Certificate(text));
  const begins = Math.max(...certificates.map(({ validFrom }) => Date.parse(validFrom)));
  const ends = Math.min(...certificates.map(({ validTo }) => Date.parse(validTo)));
  const day = (time: number) => new Date(time).toISOString().slice(0, 10);
  const renew = `put a new certificate into the file that ${key} names, and restart the service`;
  if (begins > now) return fail(`a certificate in it is not valid before ${day(begins)}`, 'check the clock');
  if (ends <= now) return fail(`a certificate in it expired on ${day(ends)}`, renew);
  if (ends - now < SOON_MS) return warn(`a certificate in it expires on ${day(ends)}`, renew);
  return ok(`valid until ${day(ends)}`);
}
