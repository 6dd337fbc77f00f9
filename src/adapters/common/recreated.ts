/** Whether a topic still is the one in which a position was reached. */
import { type Broker, type Extent, type Position, TopicRecreated } from '../../ports/broker.js';

/** @throws TopicRecreated, BrokerUnavailable */
export async function assertSameTopic(
  broker: Pick<Broker, 'read'>,
  { topic, partition }: { readonly topic: string; readonly partition: number },
  { offset, before }: Position,
  { first, next }: Extent,
): Promise<void> {
  if (offset > next) throw new TopicRecreated(topic);
  if (!before || before.offset < first) return;
  const found = await broker.read(topic, partition, before.offset);
  if (found?.timestamp !== before.timestamp) throw new TopicRecreated(topic);
}
