/** Whether others than the owner can change a folder: they could replace our store, read model or key. */
import { statSync } from 'node:fs';

const OTHERS_WRITE = 0o022;

/** The folder's mode in octal if its group or everybody may write to it; else null. @throws an error of fs */
export function modeOpenToOthers(path: string): string | null {
  const mode = statSync(path).mode & 0o777;
  return (mode & OTHERS_WRITE) === 0 ? null : mode.toString(8).padStart(4, '0');
}
