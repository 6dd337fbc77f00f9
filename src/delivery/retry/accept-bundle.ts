import type { AcceptRecord, ReceivedRecord, RecordHandler } from '../../ports/broker.js';
import type { Topics } from '../topics.js';
import { membersOf, waitOf } from './bundle.js';
import { BundlePassing, type BundlePassingParts } from './passing.js';
import { type Delay, longestWaitMs } from './retry-schedule.js';
import type { Unpacking } from './unpacking.js';

export interface AcceptBundleParts extends BundlePassingParts {
  readonly topics: Pick<Topics, 'tierOf' | 'tiers'>;
  readonly schedule: readonly Delay[];
  readonly unpacking: Pick<Unpacking, 'hasRoom' | 'unpack'>;
  /** Moves a record that is not a bundle to the dead letters. */
  readonly refuse: (record: ReceivedRecord) => Promise<void>;
  /** Aborted as the dispatcher closes. */
  readonly closing: AbortSignal;
}

/**
 * Records of tiers: passed on or unpacked. Only the wait is decoded when the record is accepted, and the members are when it is
 * due: until then it must not hold more memory than its bytes.
 */
export function createAcceptBundle(parts: AcceptBundleParts): AcceptRecord {
  const { topics, now, unpacking, refuse, closing } = parts;
  const { retry, deferred } = topics.tiers(parts.schedule);
  const passing = new BundlePassing(parts, [...retry, ...deferred]);
  return (accepted) => {
    const wait = waitOf(accepted);
    // Without await: nothing here may hold the record's memory while the bundle is unpacked.
    const handle: RecordHandler = (record, hold) => {
      const all = membersOf(record);
      if (!all) return refuse(record);
      // Another consumer may have done some of them.
      const members = all.map((member, part) => (hold.isPartDone(part) ? null : member));
      const bundle = { record, wait, members };
      return passing
        .passOn(bundle, closing.aborted || unpacking.hasRoom(record))
        .then((isPassedOn) => (isPassedOn ? undefined : unpacking.unpack(bundle, hold)));
    };
    const tier = topics.tierOf(accepted.topic);
    return { notBefore: Math.min(wait.due, now() + (tier ? longestWaitMs(tier) : 0)), handle };
  };
}
