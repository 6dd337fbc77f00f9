/** backup: a copy of the embedded store, while a service uses it. */
import type { Command } from 'commander';
import { backupStore } from '../adapters/sqlite/backup.js';
import type { Config } from '../config.js';
import { CommandFailed, type CommandIo, JSON_OPTION, type JsonOption, untilSignal } from './command-io.js';

const WRONG_USAGE = 2;
const KEY = 'master.key is not in it: back it up elsewhere. Without it, no header value and no secret can be opened.';

interface Options extends JsonOption {
  readonly force?: boolean;
}

export function backupCommand(program: Command, io: CommandIo): void {
  program
    .command('backup')
    .description('copy store.sqlite, which a running service may use meanwhile; the master key is not in it')
    .argument('<file>', 'where to; it appears when it is whole')
    .option('--force', 'replace the file where it is there')
    .option(...JSON_OPTION)
    .action((file: string, { force = false, json }: Options, command: Command) => {
      const config = io.config();
      if (config.eventStoreUrl !== null && config.kafka) {
        command.error(`error: there is no store.sqlite here. ${elsewhere(config).join(' ')}`, {
          exitCode: WRONG_USAGE,
        });
      }
      return backup(io, config, { file, force, json: json ?? false });
    });
}

async function backup(
  io: CommandIo,
  config: Config,
  { file, force, json }: { file: string; force: boolean; json: boolean },
): Promise<void> {
  const stop = untilSignal();
  const shown = process.stderr.isTTY ? showProgress : () => undefined;
  try {
    const at = new Date().toISOString();
    const bytes = await backupStore({
      dataDir: config.dataDir,
      target: file,
      force,
      progress(share) {
        if (stop.signal.aborted) throw new CommandFailed('the backup was interrupted; nothing of it is left');
        shown(share);
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

/** What the installation keeps on servers. */
function elsewhere({ eventStoreUrl, kafka, masterKey }: Config): string[] {
  return [
    ...(eventStoreUrl === null ? [] : ['The history is in EventStoreDB: back up its database, as its manual says.']),
    ...(kafka ? ['What is on its way is in Kafka: that is kept by its replicas.'] : []),
    ...(masterKey ? ['MASTER_KEY is not in it: keep it elsewhere.'] : []),
  ];
}

function showProgress(share: number): void {
  process.stderr.write(`\r${Math.floor(share * 100)} %`);
}
