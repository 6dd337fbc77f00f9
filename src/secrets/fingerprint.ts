/**
 * Decides whether two requests are the same without storing their content. A plain hash would let a reader of the store
 * guess header values, so the fingerprint is an HMAC-SHA-256 under a key derived from the master key, written `<key
 * id>.<base64url>`. The key id lets a fingerprint outlive a change of the master key.
 */
import { createHmac } from 'node:crypto';
import type { MasterKey } from './master-keys.js';

export interface Fingerprints {
  of(content: string): string;
  /** False also if the fingerprint's key is no longer configured. */
  isOf(fingerprint: string, content: string): boolean;
}

/** The first key makes fingerprints; all keys verify them. */
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
