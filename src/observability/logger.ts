/** Logs go to stderr, as JSON, or pretty on a terminal; stdout is for results. */
import { createRequire } from 'node:module';
import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino';
import type { build } from 'pino-pretty';

const require = createRequire(import.meta.url);

export type Logger = Pick<PinoLogger, 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'isLevelEnabled'>;

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export function createLogger(level: LogLevel, destination = logDestination(process.stderr)): Logger {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination);
}

/** Synchronous: after a crash, the last lines matter most. */
export function logDestination({ isTTY = false, fd }: { isTTY?: boolean; fd: number }): DestinationStream {
  if (isTTY) return pretty()({ destination: fd, sync: true, colorize: true, singleLine: true });
  return pino.destination({ dest: fd, sync: true });
}

/** Loaded for a terminal only: its 40 modules add 50 ms to every start. */
function pretty(): typeof build {
  return require('pino-pretty') as typeof build;
}
