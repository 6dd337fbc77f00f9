/** Where benchmarks keep what they need: BENCH_FOLDER, the system's temporary folder without it. A real disk counts. */
import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const TMPFS = 0x01021994;
const BASE = process.env.BENCH_FOLDER || tmpdir();

/** Of this process: removed with all that is in it when the process ends, by Ctrl-C too. */
let own: string | undefined;

export function newFolder(): string {
  own ??= ownFolder();
  return mkdtempSync(join(own, 'installation-'));
}

export function remove(path: string): void {
  rmSync(path, { recursive: true, force: true });
}

/** A folder in memory makes durable commits look cheap. */
export function isOnDisk(): boolean {
  return statfsSync(BASE).type !== TMPFS;
}

function ownFolder(): string {
  const path = mkdtempSync(join(BASE, 'account-webhooks-bench-'));
  process.once('exit', () => remove(path));
  return path;
}
