/** Whether others than the owner can change a folder or file: they could replace our store, read model or key. */
import { statSync } from 'node:fs';

/** Of the group, and of everybody. */
export const OTHERS_WRITE = 0o022;
export const OTHERS_READ = 0o044;

/** @throws an error of fs */
export function modeOf(path: string): number {
  return statSync(path).mode & 0o777;
}

export function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0');
}

/** The folder's mode in octal if its group or everybody may write to it; else null. @throws an error of fs */
export function modeOpenToOthers(path: string): string | null {
  const mode = modeOf(path);
  return (mode & OTHERS_WRITE) === 0 ? null : octal(mode);
}
