/** store accept: assigns this installation to the current event store. The service must be stopped. */
import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { DataDirInUse, lockDataDir } from '../adapters/sqlite/data-dir-lock.js';
import { removeDisposable } from '../adapters/sqlite/disposable-file.js';
import { READ_MODEL } from '../adapters/sqlite/projection-states.js';
import { acceptIdentity, readStoreIds, writeStoreId } from '../read-model/store-identity.js';
import { command } from './command.js';
import { CommandFailed, type CommandIo } from './command-io.js';

export function storeCommand(program: Command, io: CommandIo): void {
  const group = program.command('store').description('manage which event store this installation belongs to');
  command(group, io, {
    name: 'accept',
    says: 'accept the current event store after a restore or a move; stop the service first',
    async run(running) {
      const { DATA_DIR: dataDir } = running.config;
      const unlock = await lockDataDir(dataDir, 0).catch((error: unknown) => {
        throw error instanceof DataDirInUse
          ? new CommandFailed(`the service runs (${error.message}): stop it first`)
          : error;
      });
      try {
        const { store } = await running.open();
        // The read model goes first: after a kill midway, nothing folded from another history remains.
        removeDisposable(dataDir, READ_MODEL);
        const identity = await acceptIdentity({ store, newId: randomUUID }, readStoreIds(dataDir));
        writeStoreId(dataDir, identity);
        const says = `accepted the event store ${identity} as it is now; the next start rebuilds the read model`;
        await running.print({ storeId: identity }, says);
      } finally {
        unlock();
      }
    },
  });
}
