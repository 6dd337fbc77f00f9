import { readFileSync } from 'node:fs';

/** The URL of a file in the package's root. This file is beside main.ts because its code is beside dist/main.js. */
export function packageFile(path: string): URL {
  return new URL(`../${path}`, import.meta.url);
}

/** The service's version, from package.json. */
export function version(): string {
  return (JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string }).version;
}
