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

/** Of lines that wait for room on a full disk; later ones are dropped. */
const MOST_BYTES_WAITING = 1024 ** 2;

/**
 * Synchronous: after a crash, the last lines matter most. Where the log can't be written, the process goes on without:
 * payments are worth more. After EPIPE pino writes nothing more; other failures end once a later line is written.
 */
export function logDestination({ isTTY = false, fd }: { isTTY?: boolean; fd: number }): DestinationStream {
  const destination = pino.destination({ dest: fd, sync: true, maxLength: MOST_BYTES_WAITING });
  destination.on('error', () => undefined);
  return isTTY ? pretty()({ destination, colorize: true, singleLine: true }) : destination;
}

/** Loaded for a terminal only: its 40 modules add 50 ms to every start. */
function pretty(): typeof build {
  return require('pino-pretty') as typeof build;
}
