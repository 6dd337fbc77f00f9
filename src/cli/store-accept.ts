/** store accept: assigns this installation to the current event store. The service must be stopped. */
import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { FileInUse, removeDisposable } from '../adapters/sqlite/disposable-file.js';
import { READ_MODEL } from '../adapters/sqlite/projection-states.js';
import { readStoreIds, writeStoreId } from '../read-model/store-id-file.js';
import { acceptIdentity } from '../read-model/store-identity.js';
import { CommandFailed, type CommandIo, JSON_OPTION, type JsonOption, withBackbone } from './command-io.js';

export function storeCommand(program: Command, io: CommandIo): void {
  const store = program.command('store').description('manage which event store this installation belongs to');
  store
    .command('accept')
    .description('accept the current event store after a restore or a move; stop the service first')
    .option(...JSON_OPTION)
    .action(async ({ json = false }: JsonOption) => {
      const config = io.config();
      await withBackbone(config, async ({ store }) => {
        // The read models go first: after a kill midway, nothing folded from another history remains.
        removeReadModels(config.dataDir);
        const identity = await acceptIdentity({ store, newId: randomUUID }, readStoreIds(config.dataDir));
        writeStoreId(config.dataDir, identity);
        const says = `accepted the event store ${identity} as it is now; the next start rebuilds the read model`;
        await io.print(json ? JSON.stringify({ storeId: identity }) : says);
      });
    });
}

function removeReadModels(dataDir: string): void {
  try {
    removeDisposable(dataDir, READ_MODEL);
  } catch (error) {
    if (!(error instanceof FileInUse)) throw error;
    throw new CommandFailed(`the service runs on this DATA_DIR (${error.file} is in use): stop it first`);
  }
}
