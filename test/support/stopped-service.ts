/** A process that is stopped but not dead (SIGSTOP): a virtual machine that is moved, a machine that sleeps. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openFile } from '../../src/adapters/sqlite/open-file.js';
import { eventually } from './eventually.js';
import type { Service, Settings } from './service.js';

/**
 * Between two writes to the embedded store, if there is one: midway through a transaction a process holds the file's
 * write lock, which nobody can take over.
 */
export async function stopBetweenWrites({ pid }: Pick<Service, 'pid'>, { DATA_DIR = '' }: Settings): Promise<void> {
  const store = join(DATA_DIR, 'store.sqlite');
  const isStopped = () => {
    process.kill(pid, 'SIGSTOP');
    if (!existsSync(store) || isWritable(store)) return true;
    process.kill(pid, 'SIGCONT');
    return false;
  };
  await eventually(isStopped, { message: 'it writes all the time' });
}

export function goOn({ pid }: Pick<Service, 'pid'>): void {
  process.kill(pid, 'SIGCONT');
}

function isWritable(store: string): boolean {
  const file = openFile(store, 100);
  try {
    file.exec('BEGIN IMMEDIATE; ROLLBACK');
    return true;
  } catch {
    return false;
  } finally {
    file.close();
  }
}
