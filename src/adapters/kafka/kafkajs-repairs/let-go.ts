/** Ends a kafkajs client that may still be working. */
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
