/**
 * The dispatcher: consumes payment topics and retry tiers. On SIGTERM it takes no more records and starts no more
 * attempts, whose responses might come too late: waiting deliveries go to the first tier, uncounted. Attempts in
 * progress have DRAIN_MS to end; then the rest are aborted and go there too. Only then does the dispatcher commit
 * offsets and release partitions, so after such a stop nothing that was done is sent again.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Broker, BrokerRefused, Consumer, ConsumerState, ReceivedRecord } from '../ports/broker.js';
import { Confirmation, type ConfirmationParts } from './confirmation.js';
import { createDeliver } from './deliver.js';
import { dueOf, fromRetryRecord } from './delivery.js';
import { bury, createFanOut, type FanOutParts } from './fan-out.js';
import { retryGroup } from './groups.js';
import type { Intake } from './isolation/intake.js';
import { RoutedLog } from './log/routed-log.js';
import { longestWaitMs } from './retry/retry-schedule.js';
import { eachStepOnce } from './retry/steps-once.js';
import { Standstills } from './standstill.js';

const DRAIN_MS = 5_000;
/** After the drain: time for retry records to become durable. */
const ABANDON_MS = 3_000;
/**
 * Per consumer. Records, not attempts: one record may wait in the queues of three URLs. More than all queues of the
 * gate hold.
 */
const IN_FLIGHT = 16_384;
/** The same limit in bytes: a record may have 256 KiB. */
const IN_FLIGHT_BYTES = 64 * 1024 * 1024;

export interface Dispatcher {
  /**
   * Rejected if a consumer died for good, or the broker refused a publish: the process must end, and a supervisor restarts
   * it.
   */
  readonly closed: Promise<void>;
  /** The states of its consumers: the one of the payment topics and the one of the tiers. */
  state(): { readonly payments: ConsumerState; readonly retries: ConsumerState };
  close(): Promise<void>;
}

export type DispatcherParts = Omit<FanOutParts, 'interrupt' | 'abandon' | 'refused' | 'confirmation' | 'routedLog'> & {
  readonly broker: Broker;
  readonly group: string;
  /** The identity of the event store behind the read model. */
  readonly store: string;
  readonly passHead: ConfirmationParts['passHead'];
  /** How long a stop waits for attempts in progress. Default: DRAIN_MS. */
  readonly drainMs?: number;
  readonly intake: Pick<Intake, 'mayBegin'>;
};

export async function startDispatcher(given: DispatcherParts): Promise<Dispatcher> {
  const { drainMs = DRAIN_MS } = given;
  const interrupt = new AbortController();
  const abandon = new AbortController();
  const refusal = new Refusal();
  const signals = { interrupt: interrupt.signal, abandon: abandon.signal, refused: refusal.by };
  const confirmation = new Confirmation({ passHead: given.passHead, signal: interrupt.signal });
  const routedLog = new RoutedLog({ ...given, ...signals, topic: given.topics.deliveries });
  const parts = { ...given, ...signals, confirmation, routedLog };
  const tiers = await tierTopics(parts);
  await parts.broker.ensureTopics([
    ...parts.topics.payments,
    ...tiers,
    parts.topics.deadLetters,
    parts.topics.deliveries,
  ]);
  const { payments, retries } = await consumeAll(parts, tiers);
  const consumers = [payments, retries];
  // Redelivered records would be attempted again, and again in vain.
  refusal.happened.catch(() => {
    for (const consumer of consumers) consumer.stop();
  });
  const closed = Promise.all(consumers.map((consumer) => consumer.closed));
  return {
    state: () => ({ payments: payments.state(), retries: retries.state() }),
    closed: Promise.race([refusal.happened, closed]).then(() => undefined),
    async close() {
      const closing = Promise.all(consumers.map((consumer) => consumer.close()));
      parts.gate.close();
      const endWhatIsLeft = setTimeout(() => interrupt.abort(), drainMs);
      const giveUp = setTimeout(() => abandon.abort(), drainMs + ABANDON_MS);
      await closing;
      clearTimeout(endWhatIsLeft);
      clearTimeout(giveUp);
    },
  };
}

/** Rejected once the broker refuses our credentials or permissions for a publish. */
class Refusal {
  by: (error: BrokerRefused) => void = () => undefined;
  readonly happened = new Promise<never>((_, reject) => {
    this.by = reject;
  });

  constructor() {
    this.happened.catch(() => undefined);
  }
}

/** The tiers of the schedule, and tiers of an earlier schedule that still hold records. */
async function tierTopics({ broker, topics, schedule }: ConsumingParts): Promise<string[]> {
  const existing = (await broker.listTopics()).filter((topic) => topics.isTier(topic));
  return [...new Set([...schedule.map((delay) => topics.tier(delay)), ...existing])];
}

async function consumeAll(parts: ConsumingParts, tiers: readonly string[]): Promise<Consumers> {
  const { broker, group, topics } = parts;
  const deliver = createDeliver(parts);
  const common = {
    inFlight: IN_FLIGHT,
    inFlightBytes: IN_FLIGHT_BYTES,
    mayBegin: () => parts.intake.mayBegin(),
    onUnreadable: new Standstills({ ...parts, pause }).at,
  };
  const payments = await broker.consume({
    ...common,
    topics: topics.payments,
    group,
    handler: createFanOut(parts, deliver),
  });
  const retry = eachStepOnce(deliver);
  try {
    const retries = await broker.consume({
      ...common,
      topics: tiers,
      group: retryGroup(group),
      notBefore: notBefore(parts),
      handler: async (record, hold) => {
        const delivery = fromRetryRecord(record);
        return delivery ? retry(delivery, hold) : bury(parts, record, 'the record is not a retry record');
      },
    });
    return { payments, retries };
  } catch (error) {
    await payments.close();
    throw error;
  }
}

type ConsumingParts = FanOutParts & Pick<DispatcherParts, 'broker' | 'group' | 'intake'>;

interface Consumers {
  readonly payments: Consumer;
  readonly retries: Consumer;
}

/**
 * When a retry record is due, ms since the epoch. In a tier of an earlier schedule, the record's own due time applies
 * without a limit.
 */
function notBefore({ schedule, topics, now }: FanOutParts): (record: ReceivedRecord) => number {
  const longest = new Map(schedule.map((delay) => [topics.tier(delay), longestWaitMs(delay)]));
  return (record) => Math.min(dueOf(record), now() + (longest.get(record.topic) ?? Number.POSITIVE_INFINITY));
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return delay(ms, undefined, { signal }).catch(() => undefined);
}
