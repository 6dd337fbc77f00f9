/** Whether others than its owner can change a folder: they could put another store, read model or key in place of ours. */
import { statSync } from 'node:fs';

const OTHERS_WRITE = 0o022;

/** The folder's mode in octal where its group or everybody can write to it; else null. @throws an error of fs */
export function modeOpenToOthers(path: string): string | null {
  const mode = statSync(path).mode & 0o777;
  return (mode & OTHERS_WRITE) === 0 ? null : mode.toString(8).padStart(4, '0');
}
