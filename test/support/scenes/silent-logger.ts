import type { Logger } from '../../../src/observability/logger.js';

const nothing = () => undefined;

/** A logger for tests that do not check logs. */
export const silentLogger: Logger = {
  fatal: nothing,
  error: nothing,
  warn: nothing,
  info: nothing,
  debug: nothing,
  trace: nothing,
  // Log entries are still built, because that might throw.
  isLevelEnabled: () => true,
};
