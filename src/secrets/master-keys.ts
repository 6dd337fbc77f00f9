/** The service's keys: one per purpose, derived from the master key (HKDF-SHA-256, RFC 5869). */
import { createHash, hkdfSync } from 'node:crypto';

export const MASTER_KEY_BYTES = 32;

type KeyPurpose = 'sealing' | 'access-tokens' | 'idempotency';

export interface MasterKey {
  /** The first 8 hex digits of a hash of the key: identifies the key, reveals nothing of it. */
  readonly id: string;
  derive(purpose: KeyPurpose): Buffer;
}

export function masterKey(bytes: Buffer): MasterKey {
  if (bytes.length !== MASTER_KEY_BYTES) throw new RangeError(`a master key has ${MASTER_KEY_BYTES} bytes`);
  const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', bytes, '', `account-webhooks ${purpose}`, 32));
  return { id: createHash('sha256').update(derive('key id')).digest('hex').slice(0, 8), derive };
}
