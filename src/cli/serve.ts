/** serve: runs the service until SIGTERM or SIGINT; exit code 0 after an orderly stop. */
import { type Command, InvalidArgumentError } from 'commander';
import { type App, ROLES, type Role, startApp } from '../app.js';
import { createLogger, type Logger } from '../observability/logger.js';
import { CommandFailed, type CommandIo } from './command-io.js';

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

export function serveCommand(program: Command, io: CommandIo): void {
  program
    .command('serve')
    .description('run the service')
    .option('--roles <roles>', `what this process does: ${ROLES.join(', ')}`, rolesOption, ROLES)
    .action(async ({ roles }: { roles: readonly Role[] }) => {
      const config = io.config();
      const logger = createLogger(config.logLevel);
      // Heard from the first moment on: a stop that comes while it starts counts too.
      const signal = nextSignal();
      const starting = startApp(config, roles, logger);
      const stopped = signal.received.then(async (name) => {
        logger.info({ signal: name }, 'stopping');
        await (await starting).close();
      });
      const app = await starting.catch((error: unknown) => {
        signal.ignore();
        throw translated(error, config);
      });
      await Promise.race([stopped, app.failed.catch((error: unknown) => died(app, error, logger))]);
      signal.ignore();
      logger.info('stopped');
    });
}

/** The parts are stopped, then the process ends with code 1: its supervisor starts it again. */
async function died(app: App, error: unknown, logger: Logger): Promise<never> {
  logger.fatal({ err: error }, 'the service can not go on');
  await app.close();
  throw new CommandFailed('the service can not go on; see the log');
}

function nextSignal(): { received: Promise<NodeJS.Signals>; ignore: () => void } {
  let ignore: () => void = () => undefined;
  const received = new Promise<NodeJS.Signals>((resolve) => {
    const listener = (signal: NodeJS.Signals) => resolve(signal);
    for (const signal of SIGNALS) process.once(signal, listener);
    ignore = () => {
      for (const signal of SIGNALS) process.off(signal, listener);
    };
  });
  return { received, ignore };
}

function translated(
  error: unknown,
  { host, port, adminPort }: { host: string; port: number; adminPort: number },
): unknown {
  const { code, port: taken } = error as { code?: string; port?: number };
  const name = taken === adminPort && adminPort !== port ? 'ADMIN_PORT' : 'PORT';
  if (code === 'EADDRINUSE') return new CommandFailed(`${name} ${taken} is in use on ${host}: set another ${name}`);
  if (code === 'EACCES' && taken) return new CommandFailed(`${name} ${taken} may not be used: set another ${name}`);
  if (code === 'EADDRNOTAVAIL') return new CommandFailed(`HOST ${host} is not an address of this machine`);
  return error;
}

function rolesOption(value: string): readonly Role[] {
  const given = value.split(',').map((role) => role.trim());
  const roles = ROLES.filter((role) => given.includes(role));
  if (roles.length === 0 || new Set(given).size !== roles.length) {
    throw new InvalidArgumentError(`Roles are ${ROLES.join(' and ')}, with a comma between.`);
  }
  return roles;
}
