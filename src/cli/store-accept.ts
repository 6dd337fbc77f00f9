/** store accept: assigns this installation to the current event store. The service must be stopped. */
import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { DataDirInUse, lockDataDir } from '../adapters/sqlite/data-dir-lock.js';
import { removeDisposable } from '../adapters/sqlite/disposable-file.js';
import { READ_MODEL } from '../adapters/sqlite/projection-states.js';
import { acceptIdentity, readStoreIds, writeStoreId } from '../read-model/store-identity.js';
import { CommandFailed, type CommandIo, JSON_OPTION, type JsonOption, withBackbone } from './command-io.js';

export function storeCommand(program: Command, io: CommandIo): void {
  const store = program.command('store').description('manage which event store this installation belongs to');
  store
    .command('accept')
    .description('accept the current event store after a restore or a move; stop the service first')
    .option(...JSON_OPTION)
    .action(async ({ json = false }: JsonOption) => {
      const config = io.config();
      await whileStopped(config.dataDir, () =>
        withBackbone(config, async ({ store }) => {
          // The read model goes first: after a kill midway, nothing folded from another history remains.
          removeDisposable(config.dataDir, READ_MODEL);
          const identity = await acceptIdentity({ store, newId: randomUUID }, readStoreIds(config.dataDir));
          writeStoreId(config.dataDir, identity);
          const says = `accepted the event store ${identity} as it is now; the next start rebuilds the read model`;
          await io.print(json ? JSON.stringify({ storeId: identity }) : says);
        }),
      );
    });
}

async function whileStopped(dataDir: string, work: () => Promise<void>): Promise<void> {
  const unlock = await lockDataDir(dataDir, 0).catch((error: unknown) => {
    throw error instanceof DataDirInUse
      ? new CommandFailed(`the service runs (${error.message}): stop it first`)
      : error;
  });
  try {
    await work();
  } finally {
    unlock();
  }
}
