import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';

/** The process itself as jest's test environment: its globals, no context of node:vm. See runtime.js. */
export class NativeEnvironment {
  global = globalThis;
  moduleMocker = new ModuleMocker(globalThis);
  fakeTimers = null;
  fakeTimersModern;
  /** Of a test in a file that sets none. */
  testTimeoutMs;
  #console = globalThis.console;
  #exit = process.exit;

  constructor({ globalConfig, projectConfig }) {
    this.testTimeoutMs = globalConfig.testTimeout ?? 5_000;
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  async setup() {}

  /** Jest replaces both for each test file, and leaves them. */
  async teardown() {
    this.moduleMocker.restoreAllMocks();
    this.fakeTimersModern.dispose();
    globalThis.console = this.#console;
    process.exit = this.#exit;
  }

  getVmContext() {
    return null;
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }
}
