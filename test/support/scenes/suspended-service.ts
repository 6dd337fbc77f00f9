/** Suspends a process of the service and resumes it, as a virtual machine that is moved. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openFile } from '../../../src/adapters/sqlite/open-file.js';
import type { Service, Settings } from '../clients/service.js';
import { eventually } from '../clocks/eventually.js';

/**
 * Between two writes to the embedded store, if there is one: midway through a transaction a process holds the file's
 * write lock, which nobody can take over.
 */
export async function suspend({ pid }: Pick<Service, 'pid'>, { DATA_DIR = '' }: Settings): Promise<void> {
  const store = join(DATA_DIR, 'store.sqlite');
  const isStopped = () => {
    process.kill(pid, 'SIGSTOP');
    if (!existsSync(store) || isWritable(store)) return true;
    process.kill(pid, 'SIGCONT');
    return false;
  };
  await eventually(isStopped, { message: 'it writes all the time' });
}

export function resume({ pid }: Pick<Service, 'pid'>): void {
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
