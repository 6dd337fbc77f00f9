/**
 * Runs test files in Node's own module system, where jest's runtime makes a world of virtual modules for each file: for that
 * it linked and compiled the service and its packages 290 times a run. docs/decisions/0006 has what it measured.
 *
 * - What is in test/ is loaded for each test file again, so a test file shares no state of modules with another.
 * - The service and the packages are loaded once a worker, and globals are the process's: a test restores what it changes.
 *
 * It has of jest's runtime what jest's runner and jest-circus ask for: no module mocks, no transforms, no coverage.
 */
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { pathToFileURL } from 'node:url';
import { takeCoverage } from 'node:v8';
import threads from 'node:worker_threads';
import { sourceMapOf } from '../../scripts/typescript/compiled.js';
import * as typescriptHooks from '../../scripts/typescript/hooks.js';
import { setGlobals } from './globals.js';
import * as testFileHooks from './test-file-hooks.js';

const require = createRequire(import.meta.url);
/** Symbols under which jest-circus keeps its state in the global object; with them goes a test file's memory. */
const STATE = ['JEST_STATE_SYMBOL', 'EVENT_HANDLERS', 'TEST_TIMEOUT_SYMBOL'];

typescriptHooks.addHooks(typescriptHooks, new URL('../../scripts/typescript/hooks.js', import.meta.url));
typescriptHooks.addHooks(testFileHooks, new URL('./test-file-hooks.js', import.meta.url));

/** In Node 20 a thread has none of its parent's hooks. */
const TYPESCRIPT = new URL('../../scripts/typescript/register.js', import.meta.url).href;
threads.Worker = class extends threads.Worker {
  constructor(script, options) {
    super(script, { execArgv: ['--import', TYPESCRIPT], ...options });
  }
};
syncBuiltinESMExports();

let files = 0;

export default class NativeRuntime {
  #environment;
  #globals = {};

  constructor(_config, environment) {
    this.#environment = environment;
    files += 1;
  }

  /** Jest-circus: one for each test file, since it keeps what it runs in variables of its module. */
  requireInternalModule(path) {
    delete require.cache[path];
    return require(path);
  }

  requireModule(path) {
    return require(path);
  }

  setGlobalsForRuntime(globals) {
    this.#globals = globals;
  }

  unstable_shouldLoadAsEsm() {
    return true;
  }

  async unstable_importModule(path) {
    setGlobals(this.#globals, this.#environment);
    return import(`${pathToFileURL(path).href}?file=${files}`);
  }

  /** Frames of TypeScript are shown as they stand in its files. */
  getSourceMaps() {
    return { get: sourceMapOf, [Symbol.iterator]: () => [].values() };
  }

  getAllCoverageInfoCopy() {
    return undefined;
  }

  enterTestCode() {}

  leaveTestCode() {}

  teardown() {
    for (const symbol of Object.getOwnPropertySymbols(globalThis))
      if (STATE.includes(symbol.description)) delete globalThis[symbol];
    // Jest may end a worker before it has written its own.
    if (process.env.NODE_V8_COVERAGE) takeCoverage();
  }
}
