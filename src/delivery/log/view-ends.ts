/** Whether a view has what its topics had at some moment. */
import type { Broker, Extent } from '../../ports/broker.js';
import { type DeliveriesView, VIEW_TOPICS, type ViewTopic } from '../../ports/deliveries-view.js';

export type ViewEnds = ReadonlyMap<ViewTopic, ReadonlyMap<number, Extent>>;

/** The ends that both topics have now. @throws BrokerUnavailable */
export async function viewEnds(
  broker: Pick<Broker, 'extent'>,
  topics: { readonly [Of in ViewTopic]: string },
): Promise<ViewEnds> {
  return new Map(await Promise.all(VIEW_TOPICS.map(async (of) => [of, await broker.extent(topics[of])] as const)));
}

/** @throws ViewUnsound */
export function hasPassed(view: Pick<DeliveriesView, 'positions'>, ends: ViewEnds): boolean {
  return [...ends].every(([topic, partitions]) => {
    const positions = view.positions(topic);
    // Of an empty partition there may be no position.
    return [...partitions].every(([of, { first, next }]) => first === next || (positions.get(of)?.offset ?? 0) >= next);
  });
}
