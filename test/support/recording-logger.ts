import type { Logger } from '../../src/observability/logger.js';
import { silentLogger } from './silent-logger.js';

export interface RecordingLogger extends Logger {
  readonly warnings: unknown[][];
  readonly errors: unknown[][];
}

export function recordingLogger(): RecordingLogger {
  const warnings: unknown[][] = [];
  const errors: unknown[][] = [];
  return {
    ...silentLogger,
    warnings,
    errors,
    warn: (...args: unknown[]) => void warnings.push(args),
    error: (...args: unknown[]) => void errors.push(args),
  };
}
