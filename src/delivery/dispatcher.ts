/**
 * The dispatcher: consumes payment topics and retry tiers. Its stop, for SIGTERM: nothing new is taken; what is under
 * way has DRAIN_MS to end; what is left then goes to the first tier, uncounted; only then offsets are remembered and
 * partitions let go, so that after such a stop nothing that was done is sent again.
 */
import type { Broker, Consumer } from '../ports/broker.js';
import { createDeliver, type DeliverParts } from './deliver.js';
import { dueOf, fromRetryRecord } from './delivery.js';
import { bury, createFanOut } from './fan-out.js';

const DRAIN_MS = 5_000;
/** After the drain: for retry records to become durable. */
const ABANDON_MS = 3_000;
/** Records, not attempts: one record may wait in lines of three URLs. More than all lines of the gate hold. */
const PAYMENTS_IN_FLIGHT = 16_384;
const RETRIES_IN_FLIGHT = 16_384;

export interface Dispatcher {
  /** Rejected where a consumer died and can't come back: the process has to end, a supervisor starts it again. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

export type DispatcherParts = Omit<DeliverParts, 'interrupt' | 'abandon'> & {
  readonly group: string;
  /** How long a stop lets attempts under way go on; DRAIN_MS without it. */
  readonly drainMs?: number;
};

export async function startDispatcher(given: DispatcherParts): Promise<Dispatcher> {
  const { drainMs = DRAIN_MS } = given;
  const interrupt = new AbortController();
  const abandon = new AbortController();
  const parts = { ...given, interrupt: interrupt.signal, abandon: abandon.signal };
  const tiers = await tierTopics(parts);
  await parts.broker.ensureTopics([
    ...parts.topics.payments,
    ...tiers,
    parts.topics.deadLetters,
    parts.topics.deliveries,
  ]);
  const consumers = await consumeAll(parts, tiers);
  return {
    closed: Promise.all(consumers.map(({ closed }) => closed)).then(() => undefined),
    async close() {
      const closing = Promise.all(consumers.map((consumer) => consumer.close()));
      const endWhatIsLeft = setTimeout(() => {
        interrupt.abort();
        parts.gate.close();
      }, drainMs);
      const giveUp = setTimeout(() => abandon.abort(), drainMs + ABANDON_MS);
      await closing;
      clearTimeout(endWhatIsLeft);
      clearTimeout(giveUp);
    },
  };
}

/** Those of the schedule, and those of an earlier schedule that still hold records. */
async function tierTopics({ broker, topics, schedule }: DeliverParts): Promise<string[]> {
  const existing = (await broker.listTopics()).filter((topic) => topics.isTier(topic));
  return [...new Set([...schedule.map((delay) => topics.tier(delay)), ...existing])];
}

async function consumeAll(parts: DeliverParts & { group: string }, tiers: readonly string[]): Promise<Consumer[]> {
  const { group, topics } = parts;
  const broker: Broker = parts.broker;
  const deliver = createDeliver(parts);
  const payments = await broker.consume({
    topics: topics.payments,
    group,
    inFlight: PAYMENTS_IN_FLIGHT,
    handler: createFanOut(parts, deliver),
  });
  try {
    const retries = await broker.consume({
      topics: tiers,
      group: `${group}.retry`,
      inFlight: RETRIES_IN_FLIGHT,
      notBefore: dueOf,
      handler: async (record) => {
        const delivery = fromRetryRecord(record);
        return delivery ? deliver(delivery) : bury(parts, record, 'the record is not a retry record');
      },
    });
    return [payments, retries];
  } catch (error) {
    await payments.close();
    throw error;
  }
}
