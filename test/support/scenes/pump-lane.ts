import { type LaneItem, RecordLane } from '../../../src/adapters/common/record-lane.js';
import type { ReceivedRecord } from '../../../src/ports/broker.js';

/** A lane of a record pump that hands out these records. */
export function laneOf(
  items: readonly LaneItem[],
  done: (record: ReceivedRecord) => void = () => undefined,
): RecordLane {
  class ToldLane extends RecordLane {
    override done(item: LaneItem): void {
      super.done(item);
      if ('record' in item) done(item.record);
    }
  }
  const lane = new ToldLane(0);
  lane.add(items, items.length);
  return lane;
}
