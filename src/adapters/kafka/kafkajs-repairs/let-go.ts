/** Ends a kafkajs client that may still be working. */
import kafkajs, { type Cluster } from 'kafkajs';

interface Client {
  disconnect(): Promise<void>;
}

/**
 * Hazard: if a client is disconnected in the middle of work, kafkajs reconnects for its next retry, and nothing ever closes
 * that connection. So it is disconnected once all started work has settled. Never rejects.
 */
export async function disconnectAfter(begun: Iterable<Promise<unknown>>, client: Client): Promise<void> {
  await Promise.allSettled(begun);
  await client.disconnect().catch(() => undefined);
}

/** What each join, and each fetch, starts with. */
const STARTS = ['findGroupCoordinator', 'findBroker'] as const;

/**
 * Hazard: kafkajs loses a runner that is disconnected while it connects or joins: it may reconnect, join, and hold partitions
 * that nobody reads then. Here it fails by an error that kafkajs does not retry.
 */
export function endOnceReplaced(client: Cluster, isReplaced: () => boolean): void {
  const cluster = client as unknown as Record<(typeof STARTS)[number], (of: object) => Promise<unknown>>;
  for (const name of STARTS) {
    const start = cluster[name].bind(cluster);
    cluster[name] = async (of) => {
      if (isReplaced()) throw new kafkajs.KafkaJSNonRetriableError('the client was replaced');
      return start(of);
    };
  }
}
