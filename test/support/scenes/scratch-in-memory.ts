import { driver } from '../../../src/adapters/sqlite/open-file.js';
import { ScratchFile } from '../../../src/adapters/sqlite/scratch-file.js';
import { type DeliveryTopics, folded, LoggedEntries, statusIn } from '../../../src/delivery/log/delivery-log.js';
import { type DeliveryStatus, statusOf } from '../../../src/ports/delivery-order.js';

export function scratchInMemory(): ScratchFile {
  return new ScratchFile(new (driver())(':memory:'));
}

/** What became of each delivery. */
export async function allStatuses(topics: DeliveryTopics): Promise<readonly DeliveryStatus[]> {
  const entries = new LoggedEntries<DeliveryStatus>(scratchInMemory());
  await entries.read(topics, (entry) => statusIn(entry, entry.at));
  return [...entries.deliveries()].flatMap((of) => {
    const fold = folded(of);
    return fold ? [statusOf(fold)] : [];
  });
}
