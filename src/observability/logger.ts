/** Logs go to stderr, as JSON, pretty on a terminal; stdout is for answers. */
import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino';
import pretty from 'pino-pretty';

export type Logger = Pick<PinoLogger, 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace'>;

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const STDERR = 2;

export function createLogger(level: LogLevel, destination: DestinationStream = stderr()): Logger {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination);
}

function stderr(): DestinationStream {
  if (process.stderr.isTTY) return pretty({ destination: STDERR, sync: true, colorize: true, singleLine: true });
  return pino.destination({ dest: STDERR, sync: true });
}
