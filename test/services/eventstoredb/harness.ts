/** Servers and clients of a test file; all of them end with each test. */
import { EventStoreDBClient, jsonEvent, type ResolvedEvent } from '@eventstore/db-client';
import { type EventStoreOptions, startEventStore } from './event-store-server.js';
import { type OwnServer, startOwnServer } from './own-server.js';

export interface Harness {
  /** The test server, or a real one. */
  open(options?: EventStoreOptions): Promise<OwnServer>;
  /** The test server, whatever EVENTSTOREDB_COMMAND says. */
  start(options?: EventStoreOptions): ReturnType<typeof startEventStore>;
  client(url: string): EventStoreDBClient;
}

export function harness(): Harness {
  const ends: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });
  const ending = async <S extends { stop(): Promise<void> }>(starting: Promise<S>): Promise<S> => {
    const server = await starting;
    ends.push(() => server.stop());
    return server;
  };
  return {
    open: (options) => ending(startOwnServer(options)),
    start: (options) => ending(startEventStore(options)),
    client: (url) => {
      const client = EventStoreDBClient.connectionString(url);
      ends.push(() => closeClient(client));
      return client;
    },
  };
}

/** The client's dispose leaves the channel open, with a socket and timers. */
async function closeClient(client: EventStoreDBClient): Promise<void> {
  await client.dispose();
  const { getChannel } = client as unknown as { getChannel(): Promise<{ close(): void }> };
  const channel = await getChannel().catch(() => undefined);
  channel?.close();
}

export function event(number = 0) {
  return jsonEvent({ type: 'Counted', data: { number }, metadata: { $correlationId: 'c' } });
}

export async function collect(events: AsyncIterable<ResolvedEvent>, count = Number.POSITIVE_INFINITY) {
  const collected: ResolvedEvent[] = [];
  for await (const each of events) {
    collected.push(each);
    if (collected.length >= count) break;
  }
  return collected;
}

export function numbers(events: readonly ResolvedEvent[]): unknown[] {
  return events.map(({ event: each }) => (each?.data as { number?: number } | undefined)?.number);
}

/** What a promise is rejected with, as the fields that tell errors apart. */
export async function failure(promise: Promise<unknown>) {
  const error = await promise.then(
    () => undefined,
    (reason) => reason,
  );
  const { name, type, code, message } = error ?? {};
  return { kind: error?.constructor.name ?? name, type, code, message };
}
