/** Node's own warnings (deprecations, too many listeners), which Node prints as plain text among the log lines. */
import type { Logger } from '../observability/logger.js';

/** From now on every warning is logged instead of printed, for the life of the process. */
export function logProcessWarnings(logger: Logger): void {
  process.removeAllListeners('warning');
  process.on('warning', ({ name, message, code }: Error & { code?: string }) =>
    logger.warn({ code: code ?? name }, message),
  );
}
