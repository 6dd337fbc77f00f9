/** The SQLite driver for the running Node.js version. */
import { createRequire } from 'node:module';
import type Database from 'better-sqlite3';

/**
 * Version 13 is a Node-API module, prebuilt within its package; it crashes on Node.js 20. Version 12 is compiled for one
 * version of Node.js, and aborts 24.19 and later when a statement is garbage-collected. Remove it together with Node.js 20.
 */
export const DRIVER_PACKAGE = hasNode22() ? 'better-sqlite3' : 'better-sqlite3-node20';

const require = createRequire(import.meta.url);

/** Loads the native module when the first file is opened. @throws MODULE_NOT_FOUND if npm left it out */
export function driver(): typeof Database {
  return require(DRIVER_PACKAGE) as typeof Database;
}

function hasNode22(): boolean {
  return Number(process.versions.node.split('.')[0]) >= 22;
}
