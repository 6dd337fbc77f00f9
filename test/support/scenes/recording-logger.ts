import type { Logger } from '../../../src/observability/logger.js';
import { silentLogger } from './silent-logger.js';

export interface RecordingLogger extends Logger {
  readonly warnings: unknown[][];
  readonly errors: unknown[][];
  readonly infos: unknown[][];
}

export function recordingLogger(): RecordingLogger {
  const warnings: unknown[][] = [];
  const errors: unknown[][] = [];
  const infos: unknown[][] = [];
  return {
    ...silentLogger,
    warnings,
    errors,
    infos,
    warn: (...args: unknown[]) => void warnings.push(args),
    error: (...args: unknown[]) => void errors.push(args),
    info: (...args: unknown[]) => void infos.push(args),
  };
}
