import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TemporaryDirectory {
  readonly path: string;
  /** Removes it with all that is in it. */
  remove(): Promise<void>;
}

/** A new, empty directory of its own; the caller removes it. */
export async function temporaryDirectory(): Promise<TemporaryDirectory> {
  const path = await mkdtemp(join(tmpdir(), 'account-webhooks-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}
