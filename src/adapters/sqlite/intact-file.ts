/** Checks a file in a thread of its own: that of a million accounts takes seconds, in which the event loop has to serve others. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { DRIVER_PACKAGE } from './open-file.js';

/** CommonJS text, because a bundle has no module of its own to start. Posts whether the file is intact. */
const THREAD = `
const { parentPort, workerData } = require('node:worker_threads');
const file = new (require(workerData.driver))(workerData.path, { fileMustExist: true });
try {
  parentPort.postMessage(file.pragma('quick_check(1)', { simple: true }) === 'ok');
} catch (error) {
  parentPort.postMessage(!/^SQLITE_(CORRUPT|NOTADB)/.test(error.code));
} finally {
  file.close();
}
`;

/** Resolves to false only if SQLite finds the file corrupt. A missing, locked or inaccessible file is left to whoever opens it. */
export async function isIntact(path: string): Promise<boolean> {
  if (!existsSync(path)) return true;
  const driver = createRequire(import.meta.url).resolve(DRIVER_PACKAGE);
  const worker = new Worker(THREAD, { eval: true, workerData: { driver, path } });
  let intact = true;
  await new Promise<void>((resolve) => {
    worker.once('message', (found: boolean) => {
      intact = found;
    });
    // A driver that does not load, for example: opening the file reports it.
    worker.once('error', () => resolve());
    worker.once('exit', () => resolve());
  });
  return intact;
}
