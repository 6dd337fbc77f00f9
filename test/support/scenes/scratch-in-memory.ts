import { driver } from '../../../src/adapters/sqlite/open-file.js';
import { ScratchFile } from '../../../src/adapters/sqlite/scratch-file.js';
import { folded, LoggedEntries, statusIn } from '../../../src/delivery/log/delivery-log.js';
import type { Topics } from '../../../src/delivery/topics.js';
import { type DeliveryStatus, statusOf } from '../../../src/ports/delivery-order.js';
import type { RecordsBroker } from '../../../src/ports/topic-records.js';

export function scratchInMemory(): ScratchFile {
  return new ScratchFile(new (driver())(':memory:'));
}

/** What became of each delivery. */
export async function allStatuses(broker: RecordsBroker, topics: Topics): Promise<readonly DeliveryStatus[]> {
  const entries = new LoggedEntries<DeliveryStatus>(scratchInMemory());
  await entries.read(broker, topics, (entry) => statusIn(entry, entry.at));
  return [...entries.deliveries()].flatMap((of) => {
    const fold = folded(of);
    return fold ? [statusOf(fold)] : [];
  });
}
