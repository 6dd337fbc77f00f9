/** Where a delivery stands by the deliveries topic: the last entry of it decides. */
import type { Outcome } from '../delivery/delivery-log.js';

export interface Standing {
  readonly outcome: Outcome;
  /** Of the deliveries topic. */
  readonly partition: number;
  /** When the entry was published, ms since the epoch. */
  readonly at: number;
  /** When the next attempt is due, ms since the epoch; 0 where there is none. */
  readonly next: number;
}

/**
 * The one that decides of the last entries of each partition; null of none. The topic is keyed by account, so there are
 * several only where partitions were added, and then no offset says which came first: an end stands whatever another
 * partition says, and of several ends the latest. Only what was exhausted goes on later, where it is replayed.
 */
export function decisive(lasts: readonly Standing[]): Standing | null {
  const going = latest(lasts.filter(({ outcome }) => outcome === 'retrying'));
  const end = latest(lasts.filter(({ outcome }) => outcome !== 'retrying'));
  if (!end || !going) return end ?? going;
  return end.outcome === 'exhausted' && going.at > end.at ? going : end;
}

function latest(standings: readonly Standing[]): Standing | null {
  return standings.reduce<Standing | null>((best, one) => (best && !isLater(one, best) ? best : one), null);
}

/** Of one millisecond it is the higher partition's, so that the order in which partitions are read is no matter. */
function isLater(one: Standing, other: Standing): boolean {
  return one.at > other.at || (one.at === other.at && one.partition > other.partition);
}
