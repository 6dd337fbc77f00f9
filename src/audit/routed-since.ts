/**
 * From where on `routed` entries are written in each partition: the records before it are of an earlier release, which left
 * nothing to join them with.
 */

import { type Place, partitionText } from '../delivery/record-place.js';
import type { Broker } from '../ports/broker.js';

type Where = Pick<Place, 'topic' | 'partition' | 'offset'>;

export class RoutedSince {
  /** By partition the lowest place that an entry names. */
  readonly #first = new Map<string, Place>();
  #lastWithoutPlace = Number.NEGATIVE_INFINITY;

  /** An entry names this place. */
  routed(place: Place): void {
    const name = partitionText(place);
    const known = this.#first.get(name);
    if (!known || place.offset < known.offset) this.#first.set(name, place);
    // One of them is of a former topic; in which order they come is no matter.
    else if (place.offset === known.offset && place.at !== known.at)
      this.#first.set(name, { ...known, at: Number.NaN });
  }

  /**
   * The entry of a delivery does not say which record it is of: an earlier release wrote it.
   * @param at when it was published, ms since the epoch
   */
  withoutPlace(at: number): void {
    this.#lastWithoutPlace = Math.max(this.#lastWithoutPlace, at);
  }

  /** @param at when the record was published, ms since the epoch */
  isEarlier(where: Where, at: number): boolean {
    const first = this.#first.get(partitionText(where));
    return first ? where.offset < first.offset : at < this.#lastWithoutPlace;
  }

  /**
   * Takes back what only a former topic of that name says: its entries name offsets of this one, at other times. The rule
   * was kept before this topic was made, so none of its records is from before the rule.
   * @throws BrokerUnavailable
   */
  async check(broker: Pick<Broker, 'browse'>, partitions: ReadonlySet<string>): Promise<void> {
    for (const name of partitions) {
      const first = this.#first.get(name);
      if (first && !(await isThere(broker, first))) this.#first.set(name, { ...first, offset: 0 });
    }
  }
}

async function isThere(broker: Pick<Broker, 'browse'>, { topic, partition, offset, at }: Place): Promise<boolean> {
  const ranges = new Map([[partition, { from: offset, to: offset + 1 }]]);
  for await (const record of broker.browse(topic, { ranges })) {
    if (record.offset === offset) return record.timestamp === at;
  }
  return false;
}
