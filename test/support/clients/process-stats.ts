/** Linux's statistics of a running process. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

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

/** The process's TCP connections to this port, including those in progress. */
export function connectionsTo(pid: number, port: number): number {
  const hexPort = port.toString(16).toUpperCase().padStart(4, '0');
  const own = new Set(readdirSync(`/proc/${pid}/fd`).map((fd) => targetOf(`/proc/${pid}/fd/${fd}`)));
  const rows = ['tcp', 'tcp6'].flatMap((file) => readFileSync(`/proc/${pid}/net/${file}`, 'utf8').split('\n'));
  return rows.filter((row) => {
    const fields = row.trim().split(/\s+/);
    return fields[2]?.endsWith(`:${hexPort}`) && own.has(`socket:[${fields[9]}]`);
  }).length;
}

function targetOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return ''; // closed meanwhile
  }
}
