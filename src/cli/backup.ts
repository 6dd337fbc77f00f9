/** backup: copies the embedded store while a service uses it. */
import type { Command } from 'commander';
import { backupStore } from '../adapters/sqlite/backup.js';
import type { Config } from '../settings/config.js';
import { CommandFailed, type CommandIo, JSON_OPTION, type JsonOption, untilSignal } from './command-io.js';

const WRONG_USAGE = 2;
const KEY =
  'The copy does not include master.key: back it up elsewhere. Without that key, no header value and no secret can be opened.';

interface Options extends JsonOption {
  readonly force?: boolean;
}

export function backupCommand(program: Command, io: CommandIo): void {
  program
    .command('backup')
    .description('copy store.sqlite, also while the service runs; the copy does not include the master key')
    .argument('<file>', 'target file; it appears once the copy is complete')
    .option('--force', 'overwrite an existing file')
    .option(...JSON_OPTION)
    .action((file: string, options: Options, command: Command) => {
      const config = io.config();
      if (config.eventStoreUrl !== null && config.kafka) {
        const why = `error: these settings use no store.sqlite. ${elsewhere(config).join(' ')}`;
        command.error(why, { exitCode: WRONG_USAGE });
      }
      return backup(io, config, file, options);
    });
}

async function backup(io: CommandIo, config: Config, file: string, { force = false, json }: Options): Promise<void> {
  const stop = untilSignal();
  try {
    const at = new Date().toISOString();
    const bytes = await backupStore({
      dataDir: config.dataDir,
      target: file,
      force,
      progress(share) {
        if (stop.signal.aborted) throw new CommandFailed('the backup was interrupted and left no file behind');
        if (process.stderr.isTTY) process.stderr.write(`\r${Math.floor(share * 100)} %`);
      },
    });
    const notes = [...(config.masterKey ? [] : [KEY]), ...elsewhere(config)];
    if (json) return io.print(JSON.stringify({ file, bytes, at, notes }));
    await io.print(`${file}: ${(bytes / 1024 ** 2).toFixed(1)} MiB, store.sqlite as it was at ${at}`);
    for (const note of notes) await io.print(note);
  } finally {
    if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
    stop.ignore();
  }
}

/** The parts of the installation that are on servers. */
function elsewhere({ eventStoreUrl, kafka, masterKey }: Config): string[] {
  const history = 'The history is in EventStoreDB: back up its database as its manual describes.';
  return [
    ...(eventStoreUrl === null ? [] : [history]),
    ...(kafka ? ['Unfinished records are in Kafka: its replicas keep them.'] : []),
    ...(masterKey ? ['The copy does not include MASTER_KEY: keep it elsewhere.'] : []),
  ];
}
