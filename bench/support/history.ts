/** A store with a history, made once and kept between runs for as long as what makes it stays as it is. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cachedFolder, remove } from './folders.js';
import { type Population, populate } from './population.js';
import type { Tell } from './row.js';

/** What a history looks like is said here. */
const MADE_BY = [
  'bench/support/population.ts',
  'src/adapters/sqlite/store-file.ts',
  'src/webhooks/events.ts',
  'src/secrets/sealing.ts',
];
const COMPLETE = 'complete';

/** @param name says what is in the population @returns DATA_DIR; its read model may be there as well */
export async function history(name: string, population: Population, tell: Tell): Promise<string> {
  const hash = createHash('sha256');
  for (const file of MADE_BY) hash.update(readFileSync(file));
  const folder = cachedFolder(`${name}-${hash.digest('hex').slice(0, 12)}`);
  const complete = join(folder, COMPLETE);
  if (existsSync(complete)) return folder;
  remove(folder);
  tell(`writing a history, once: ${name}`);
  await populate({ DATA_DIR: folder }, population, tell);
  writeFileSync(complete, '');
  return folder;
}

/** What is rebuilt from the history at the next start. */
export function forgetReadModel(dataDir: string): void {
  for (const suffix of ['', '-wal', '-shm']) remove(join(dataDir, `read-model.sqlite${suffix}`));
}
