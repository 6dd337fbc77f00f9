/**
 * Tells whether two requests are the same without keeping what they hold: a hash would let whoever reads the store try
 * header values until one fits, so it is an HMAC-SHA-256 by a key of the house, written `<key id>.<base64url>`. The key
 * id is what lets a fingerprint outlive a change of the master key.
 */
import { createHmac } from 'node:crypto';
import type { MasterKey } from '../secrets/master-keys.js';

export interface Fingerprints {
  of(content: string): string;
  /** False also where its key is not here any more. */
  isOf(fingerprint: string, content: string): boolean;
}

/** The first key makes fingerprints; all of them tell. */
export function createFingerprints(masterKeys: readonly [MasterKey, ...MasterKey[]]): Fingerprints {
  const [own, ...others] = masterKeys.map(({ id, derive }) => ({ id, key: derive('idempotency') }));
  const made = ({ id, key }: { id: string; key: Buffer }, content: string) =>
    `${id}.${createHmac('sha256', key).update(content).digest('base64url')}`;
  if (!own) throw new RangeError('a master key is needed');
  return {
    of: (content) => made(own, content),
    isOf(fingerprint, content) {
      const maker = [own, ...others].find(({ id }) => fingerprint.startsWith(`${id}.`));
      return maker !== undefined && made(maker, content) === fingerprint;
    },
  };
}
