/** The console's built files (dist/console), read once. */
import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const SHELL = 'index.html';

export interface ConsoleAsset {
  /** A file name's ending, as Koa's `type` takes it. */
  readonly type: string;
  readonly plain: Buffer;
  readonly gzipped: Buffer;
}

export interface ConsoleFiles {
  /** HTML that refers to assets by `/console/assets/<name>`. */
  readonly shell: string;
  /** By name. */
  readonly assets: ReadonlyMap<string, ConsoleAsset>;
}

/** @returns null if the console was not built @throws other errors of the disk */
export function readConsoleFiles(folder: URL): ConsoleFiles | null {
  const names = namesIn(folder);
  if (!names?.includes(SHELL)) return null;
  const assets = names.filter((name) => name !== SHELL).map((name) => [name, assetOf(new URL(name, folder))] as const);
  return { shell: readFileSync(new URL(SHELL, folder), 'utf8'), assets: new Map(assets) };
}

function namesIn(folder: URL): string[] | null {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function assetOf(file: URL): ConsoleAsset {
  const plain = readFileSync(file);
  return { type: file.pathname.replace(/^.*\./, ''), plain, gzipped: gzipSync(plain, { level: 9 }) };
}
