/** Node's own warnings (deprecations, too many listeners), which it prints as text between the lines of the log. */
import type { Logger } from '../observability/logger.js';

/** From here on each becomes a line of the log, in place of Node's printing; for as long as the process lives. */
export function logProcessWarnings(logger: Logger): void {
  process.removeAllListeners('warning');
  process.on('warning', ({ name, message, code }: Error & { code?: string }) =>
    logger.warn({ code: code ?? name }, message),
  );
}
