/**
 * Where `routed` entries start in each partition: earlier records are from an earlier release, which wrote nothing to join
 * them with.
 */

import { type Place, partitionText } from '../delivery/record-place.js';
import type { Broker } from '../ports/broker.js';

type Where = Pick<Place, 'topic' | 'partition' | 'offset'>;

export class RoutedSince {
  /** By partition the lowest place that an entry names. */
  readonly #first = new Map<string, Place>();
  #lastWithoutPlace = Number.NEGATIVE_INFINITY;

  routed(place: Place): void {
    const name = partitionText(place);
    const known = this.#first.get(name);
    if (!known || place.offset < known.offset) this.#first.set(name, place);
    // One of them is from a deleted topic of the same name; their order does not matter.
    else if (place.offset === known.offset && place.at !== known.at)
      this.#first.set(name, { ...known, at: Number.NaN });
  }

  /**
   * A delivery's entry does not name its record: an earlier release wrote it.
   * @param at publication time of the entry, ms since the epoch
   */
  withoutPlace(at: number): void {
    this.#lastWithoutPlace = Math.max(this.#lastWithoutPlace, at);
  }

  /** @param at publication time of the record, ms since the epoch */
  isEarlier(where: Where, at: number): boolean {
    const first = this.#first.get(partitionText(where));
    return first ? where.offset < first.offset : at < this.#lastWithoutPlace;
  }

  /**
   * Discards starts that come only from a deleted topic of the same name: its entries name offsets of this one, with other
   * times. `routed` entries existed before this topic was created, so all of its records have them.
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
