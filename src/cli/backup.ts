/** backup: copies the embedded store while a service uses it. */
import type { Command } from 'commander';
import { backupStore } from '../adapters/sqlite/backup.js';
import { command, option } from './command.js';
import { type CommandIo, untilSignal } from './command-io.js';

const KEY =
  'The copy does not include the master key: back it up elsewhere. Without it, no header value and no secret can be opened.';

export function backupCommand(program: Command, io: CommandIo): void {
  command<{ readonly force?: boolean }, [file: string]>(program, io, {
    name: 'backup',
    says: 'copy store.sqlite, also while the service runs; the copy does not include the master key',
    args: [['<file>', 'target file; it appears once the copy is complete']],
    options: [option('--force', 'overwrite an existing file')],
    async run(running) {
      const { config, options } = running;
      const [file] = running.args;
      if (config.EVENT_STORE_URL !== null && config.BROKER_URL !== null)
        running.refuse('these settings use no store.sqlite: see Backup in docs/operations.md');
      const at = new Date().toISOString();
      const bytes = await copied(config.DATA_DIR, file, options.force ?? false);
      const copy = `${file}: ${(bytes / 1024 ** 2).toFixed(1)} MiB, store.sqlite as it was at ${at}`;
      await running.print({ file, bytes, at }, copy, KEY);
    },
  });
}

/** @returns its bytes */
async function copied(dataDir: string, target: string, force: boolean): Promise<number> {
  const { signal, ignore } = untilSignal();
  const progress = (share: number) => {
    if (process.stderr.isTTY) process.stderr.write(`\r${Math.floor(share * 100)} %`);
  };
  try {
    return await backupStore({ dataDir, target, force, progress, signal });
  } finally {
    if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
    ignore();
  }
}
