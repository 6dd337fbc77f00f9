/** Resident memory of a process just now, MiB. */
import { readFileSync } from 'node:fs';

export function residentMiB(pid: number): number {
  const [, kiB = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kiB) / 1_024;
}
