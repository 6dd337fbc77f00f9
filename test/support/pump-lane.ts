import type { DueRecord, Lane } from '../../src/adapters/common/record-pump.js';
import type { ReceivedRecord } from '../../src/ports/broker.js';

/** A lane of a record pump that hands out the records of a list. */
export function laneOf(records: readonly DueRecord[], done: (record: ReceivedRecord) => void = () => undefined): Lane {
  const line = [...records];
  return {
    head: () => line[0],
    get headDue() {
      return line[0]?.due ?? Number.POSITIVE_INFINITY;
    },
    isFull: false,
    takeHead: () => void line.shift(),
    done: (item) => {
      if ('record' in item) done(item.record);
    },
    isPartDone: () => false,
    partDone: () => undefined,
  };
}
