import { type LaneItem, laneItem, RecordLane } from '../../../src/adapters/common/record-lane.js';
import type { ReceivedRecord, RecordHandler, UnreadableBatch } from '../../../src/ports/broker.js';

/** An item of a lane, handed out to `handle`. @param notBefore ms since the epoch */
export function itemOf(
  received: ReceivedRecord | UnreadableBatch,
  handle: RecordHandler = async () => undefined,
  notBefore = 0,
): LaneItem {
  return laneItem(received, { accept: () => ({ handle, notBefore }) });
}

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
