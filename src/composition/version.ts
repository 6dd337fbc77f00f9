import { createRequire } from 'node:module';

/** The service's, as package.json has it. */
export function version(): string {
  return (createRequire(import.meta.url)('../../package.json') as { version: string }).version;
}
