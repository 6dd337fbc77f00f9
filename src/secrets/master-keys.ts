/** The service's keys: one per purpose, derived from the master key (HKDF-SHA-256, RFC 5869). */
import { createHash, hkdfSync } from 'node:crypto';
import { existsSync, linkSync, lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const MASTER_KEY_BYTES = 32;

type KeyPurpose = 'sealing' | 'access-tokens' | 'idempotency';

export interface MasterKey {
  /** The first 8 hex digits of a hash of the key: identifies the key, reveals nothing of it. */
  readonly id: string;
  /** @param scope each has a key of its own */
  derive(purpose: KeyPurpose, scope?: string): Buffer;
}

export function masterKey(bytes: Buffer): MasterKey {
  if (bytes.length !== MASTER_KEY_BYTES) throw new RangeError(`a master key has ${MASTER_KEY_BYTES} bytes`);
  const derive = (purpose: string, scope = '') =>
    Buffer.from(hkdfSync('sha256', bytes, '', `account-webhooks ${purpose}${scope && ` ${scope}`}`, 32));
  return { id: createHash('sha256').update(derive('key id')).digest('hex').slice(0, 8), derive };
}

export class MasterKeyMissing extends Error {
  override readonly name = 'MasterKeyMissing';
  readonly code = 'MASTER_KEY_MISSING';
}

/**
 * The default master key of the embedded mode: created once in DATA_DIR, mode 0600. Two processes may create it at once:
 * each writes the key to a temporary file and hard-links it into place, and the first link wins.
 * @throws MasterKeyMissing if there is already a history sealed with a missing key; a file system error if DATA_DIR can't be
 * used
 */
export function masterKeyFromFile(dataDir: string, randomBytes: (size: number) => Buffer): Buffer {
  const path = join(dataDir, 'master.key');
  if (!existsSync(path)) {
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) {
      throw new MasterKeyMissing(`${path} is a link to a missing file: restore the key`);
    }
    if (existsSync(join(dataDir, 'store.sqlite'))) {
      throw new MasterKeyMissing(`MASTER_KEY is not set and ${path} is missing, but there is a store: restore the key`);
    }
    create(path, dataDir, randomBytes);
  }
  const key = Buffer.from(readFileSync(path, 'utf8').trim(), 'base64');
  if (key.length !== MASTER_KEY_BYTES) throw new MasterKeyMissing(`${path} holds no valid key: restore it`);
  return key;
}

function create(path: string, dataDir: string, randomBytes: (size: number) => Buffer): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  writeFileSync(draft, `${randomBytes(MASTER_KEY_BYTES).toString('base64')}\n`, { mode: 0o600, flush: true });
  try {
    linkSync(draft, path);
  } catch (error) {
    if (!existsSync(path)) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}
