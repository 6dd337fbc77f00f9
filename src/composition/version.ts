import { readFileSync } from 'node:fs';
import { packageFile } from '../package-file.js';

/** The service's version, from package.json. */
export function version(): string {
  return (JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string }).version;
}
