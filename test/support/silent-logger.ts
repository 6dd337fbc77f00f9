import type { Logger } from '../../src/observability/logger.js';

const nothing = () => undefined;

/** For parts whose logs are not what a test looks at. */
export const silentLogger: Logger = {
  fatal: nothing,
  error: nothing,
  warn: nothing,
  info: nothing,
  debug: nothing,
  trace: nothing,
  // What would be logged is made all the same: it might throw.
  isLevelEnabled: () => true,
};
