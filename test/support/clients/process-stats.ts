/** Linux's statistics of a running process. */
import { readFileSync } from 'node:fs';

const TICKS_A_SECOND = 100;

/** User and system time so far. */
export function cpuMs(pid: number): number {
  const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  const [utime = 0, stime = 0] = fields.split(' ').slice(11, 13).map(Number);
  return ((utime + stime) * 1_000) / TICKS_A_SECOND;
}

/** Peak resident memory. */
export function peakMemoryMiB(pid: number): number {
  const [, kiB = '0'] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kiB) / 1_024);
}
