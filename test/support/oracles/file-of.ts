import { readFileSync } from 'node:fs';

const ROOT = new URL('../../../', import.meta.url);

/** The text of a file of this repository. */
export function fileOf(path: string): string {
  return readFileSync(new URL(path, ROOT), 'utf8');
}
