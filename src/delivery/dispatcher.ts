/**
 * The dispatcher: consumes payment topics and retry tiers. Its stop, for SIGTERM: nothing new is taken, and no attempt
 * is begun any more, for its answer might come too late: what waits goes to the first tier, uncounted. Attempts under way
 * have DRAIN_MS to end; what is left then follows. Only then offsets are remembered and partitions let go, so that after
 * such a stop nothing that was done is sent again.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Broker, Consumer, ConsumerState, ReceivedRecord } from '../ports/broker.js';
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
/** After the drain: for retry records to become durable. */
const ABANDON_MS = 3_000;
/** Of each consumer. Records, not attempts: one may wait in lines of three URLs. More than all lines of the gate hold. */
const IN_FLIGHT = 16_384;
/** The same in bytes: records may have 256 KiB each. */
const IN_FLIGHT_BYTES = 64 * 1024 * 1024;

export interface Dispatcher {
  /** Rejected where a consumer died and can't come back: the process has to end, a supervisor starts it again. */
  readonly closed: Promise<void>;
  /** How its consumers stand: that of the payment topics, and that of the tiers. */
  state(): { readonly payments: ConsumerState; readonly retries: ConsumerState };
  close(): Promise<void>;
}

export type DispatcherParts = Omit<FanOutParts, 'interrupt' | 'abandon' | 'confirmation' | 'routedLog'> & {
  readonly broker: Broker;
  readonly group: string;
  /** The identity of the event store that the read model is of. */
  readonly store: string;
  readonly passHead: ConfirmationParts['passHead'];
  /** How long a stop lets attempts under way go on; DRAIN_MS without it. */
  readonly drainMs?: number;
  readonly intake: Pick<Intake, 'mayBegin'>;
};

export async function startDispatcher(given: DispatcherParts): Promise<Dispatcher> {
  const { drainMs = DRAIN_MS } = given;
  const interrupt = new AbortController();
  const abandon = new AbortController();
  const signals = { interrupt: interrupt.signal, abandon: abandon.signal };
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
  return {
    state: () => ({ payments: payments.state(), retries: retries.state() }),
    closed: Promise.all(consumers.map(({ closed }) => closed)).then(() => undefined),
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

/** Those of the schedule, and those of an earlier schedule that still hold records. */
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

/** When a retry record is due, ms since the epoch. In a tier of an earlier schedule, as long as it says. */
function notBefore({ schedule, topics, now }: FanOutParts): (record: ReceivedRecord) => number {
  const longest = new Map(schedule.map((delay) => [topics.tier(delay), longestWaitMs(delay)]));
  return (record) => Math.min(dueOf(record), now() + (longest.get(record.topic) ?? Number.POSITIVE_INFINITY));
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return delay(ms, undefined, { signal }).catch(() => undefined);
}
