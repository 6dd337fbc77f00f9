/** The SQLite driver that fits this Node.js. */
import { createRequire } from 'node:module';
import type Database from 'better-sqlite3';

/**
 * Version 13 is a Node-API module, prebuilt within its package; on Node.js 20 it crashes. Version 12 is compiled for one
 * version of Node.js, and aborts 24.19 and later when a statement is garbage-collected. It goes when Node.js 20 goes.
 */
export const DRIVER_PACKAGE = hasNode22() ? 'better-sqlite3' : 'better-sqlite3-node20';

const require = createRequire(import.meta.url);

/** Its native module is loaded when the first file is opened. @throws MODULE_NOT_FOUND where npm left it out */
export function driver(): typeof Database {
  return require(DRIVER_PACKAGE) as typeof Database;
}

function hasNode22(): boolean {
  return Number(process.versions.node.split('.')[0]) >= 22;
}
