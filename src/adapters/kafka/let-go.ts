/** Lets go of a client of kafkajs while it may still be at work. */
interface Client {
  disconnect(): Promise<void>;
}

/**
 * Hazard: where a client is disconnected in the middle of something, kafkajs connects again for its next try, and nothing
 * ever closes that connection. So it is disconnected once all that was begun has settled. Never rejects.
 */
export async function disconnectAfter(begun: Iterable<Promise<unknown>>, client: Client): Promise<void> {
  await Promise.allSettled(begun);
  await client.disconnect().catch(() => undefined);
}
