/** serve: runs the service until SIGTERM or SIGINT; exit code 0 after an orderly stop. */
import { type Command, InvalidArgumentError } from 'commander';
import { TookTooLong, withinTime } from '../adapters/common/time-limit.js';
import { DataDirInUse } from '../adapters/sqlite/data-dir-lock.js';
import { StoreDamaged } from '../adapters/sqlite/store-file.js';
import { type App, ROLES, type Role, StartAborted, startApp } from '../composition/app.js';
import { createLogger, type Logger } from '../observability/logger.js';
import { BrokerRefused } from '../ports/broker.js';
import { OtherHistory } from '../ports/event-store.js';
import { StatesDamaged } from '../ports/projection-states.js';
import type { Config } from '../settings/read-config.js';
import { command, option, type Running } from './command.js';
import { CommandFailed, type CommandIo, localUrl, type OutputFailed, untilSignal } from './command-io.js';
import { keepHeapSmall } from './small-heap.js';

interface ServeOptions {
  readonly roles: readonly Role[];
}

export function serveCommand(program: Command, io: CommandIo): void {
  const roles = option('--roles <roles>', 'what this process runs: api, dispatcher, or api,dispatcher', rolesOption);
  command<ServeOptions>(program, io, {
    name: 'serve',
    says: 'run the service',
    run: serve,
    options: [roles.default(ROLES, 'both')],
    json: 'print roles and addresses as JSON on stdout once ready',
  });
}

async function serve({ config, options: { roles }, json, io }: Running<ServeOptions>): Promise<void> {
  keepHeapSmall();
  const logger = createLogger(config.LOG_LEVEL);
  logProcessWarnings(logger);
  // Listens from the first moment: a stop during the start counts too.
  const ending = untilSignal();
  const app = await startApp(config, roles, logger, ending.signal).catch((error: unknown) => {
    ending.ignore();
    if (error instanceof StartAborted) return null;
    throw translated(error, config);
  });
  if (app && json) {
    // The service goes on: deliveries are worth more than this line.
    await io.print(JSON.stringify({ roles, ...addresses(app, config) })).catch(({ code }: OutputFailed) => {
      logger.warn({ code }, 'roles and addresses could not be printed on stdout');
    });
  }
  if (app) await runUntil(ending.received, app, logger);
  ending.ignore();
  logger.info('stopped');
}

/** The API's address is null if the role does not run. */
function addresses({ apiPort, adminPort }: App, { HOST }: Config): { url: string | null; adminUrl: string } {
  return { url: apiPort === null ? null : localUrl(HOST, apiPort), adminUrl: localUrl(HOST, adminPort) };
}

/** A silent broker keeps the parts from ending: records whose offsets were not committed are redelivered. */
const STOP_WITHIN_MS = 9_000;
/** With a damaged store. */
const END_WITHIN_MS = 1_000;

async function runUntil(received: Promise<NodeJS.Signals>, app: App, logger: Logger): Promise<void> {
  const stopped = received.then((name) => {
    logger.info({ signal: name }, 'stopping');
    return withinTime(STOP_WITHIN_MS, app.close()).catch((error: unknown) => {
      if (!(error instanceof TookTooLong)) throw error;
      logger.warn('the stop timed out; unfinished deliveries will be sent again');
    });
  });
  await Promise.race([stopped, app.failed.catch((error: unknown) => died(app, error, logger))]);
}

/** Stops the parts, then ends the process with code 1, so that its supervisor restarts it. */
async function died(app: App, error: unknown, logger: Logger): Promise<never> {
  logger.fatal({ err: error }, "the service can't continue");
  const closed = app.close();
  // A damaged store can't make anything durable, so waiting is pointless.
  await (error instanceof StoreDamaged ? withinTime(END_WITHIN_MS, closed).catch(() => undefined) : closed);
  if (error instanceof OtherHistory) throw otherHistory(error);
  const saysAll = [StoreDamaged, StatesDamaged, BrokerRefused].some((kind) => error instanceof kind);
  throw new CommandFailed(saysAll ? (error as Error).message : "the service can't continue; see the log");
}

function otherHistory({ message }: OtherHistory): CommandFailed {
  const wayOut =
    'see EVENT_STORE_URL; if this is the store to use, stop the service and run: account-webhooks store accept';
  return new CommandFailed(`${message}; ${wayOut}`);
}

function translated(error: unknown, { HOST, PORT, ADMIN_PORT, DATA_DIR }: Config): unknown {
  if (error instanceof DataDirInUse) {
    const severalNeed = 'a DATA_DIR each, and the same servers as EVENT_STORE_URL and BROKER_URL';
    return new CommandFailed(
      `DATA_DIR ${DATA_DIR} is in use by another process; several processes need ${severalNeed}`,
    );
  }
  if (error instanceof OtherHistory) return otherHistory(error);
  const { code, port: taken } = error as { code?: string; port?: number };
  const name = taken === ADMIN_PORT && ADMIN_PORT !== PORT ? 'ADMIN_PORT' : 'PORT';
  if (code === 'EADDRINUSE') return new CommandFailed(`${name} ${taken} is in use on ${HOST}: set another ${name}`);
  if (code === 'EACCES' && taken)
    return new CommandFailed(`no permission to use ${name} ${taken}: set another ${name}`);
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return new CommandFailed(`HOST ${HOST} is not an address of this machine`);
  return error;
}

function rolesOption(value: string): readonly Role[] {
  const given = value.split(',').map((role) => role.trim());
  const roles = ROLES.filter((role) => given.includes(role));
  if (roles.length === 0 || new Set(given).size !== roles.length) {
    throw new InvalidArgumentError(`Give ${ROLES.join(', ')}, or both with a comma between.`);
  }
  return roles;
}

/** From now on every warning is logged instead of printed, for the life of the process. */
function logProcessWarnings(logger: Logger): void {
  process.removeAllListeners('warning');
  process.on('warning', ({ name, message, code }: Error & { code?: string }) =>
    logger.warn({ code: code ?? name }, message),
  );
}
