/**
 * Consumes payment topics and retry tiers. On SIGTERM it takes no more records and starts no more attempts: waiting deliveries go
 * to the first tier of deferred ones, uncounted. Attempts in flight have DRAIN_MS to end; then the rest are aborted and go there
 * too. Only then are offsets committed and partitions released, so after such a stop nothing that was done is sent again.
 */
import type { Broker, BrokerRefused, ReceivedRecord, RecordHandler, UnreadableBatch } from '../ports/broker.js';
import { requestIn } from './again/request.js';
import { Requests } from './again/requests.js';
import type { Backpressure } from './backpressure.js';
import { Confirmation, type PassHead } from './confirmation.js';
import { dueOf, fromRetryRecord } from './delivery.js';
import { createDeliver, type Deliver } from './delivery-attempt.js';
import { progressIn } from './delivery-progress.js';
import { bury, buryBatch, createFanOut, type FanOutParts } from './fan-out.js';
import type { DeliveryScheduler } from './isolation/delivery-scheduler.js';
import { LogWriter } from './log/log-writer.js';
import { noticeDelivery } from './notices/notice.js';
import { placeOf } from './record-place.js';
import { longestWaitMs } from './retry/retry-schedule.js';
import { passOn } from './retry/waiting.js';
import { eachStepOnce } from './steps-once.js';
import { noticeGroup, retryGroup } from './topics.js';

const DRAIN_MS = 5_000;
/** A head is passed within milliseconds, and within seconds after a restart of the event store. */
const LATE_MS = 30_000;
/** After the drain: time for retry records to become durable. */
const ABANDON_MS = 3_000;
/** Per consumer: records, of which one may wait in the queues of three URLs. More than all of its queues hold. */
const IN_FLIGHT = 16_384;
/** The same limit in bytes: a record may have 256 KiB. */
const IN_FLIGHT_BYTES = 64 * 1024 * 1024;
/** Notices are small and few: a burst of one account waits in the queue of its notice URL. */
const NOTICES_IN_FLIGHT = 1_000;

/**
 * Why the process is not ready: payments go out, and none counts as done. Null if they are confirmed in time.
 * @param late inHand: payment records that do not count as done
 */
export function unconfirmedText(late: { inHand: number; unconfirmedMs: number }, time: number): string | null {
  const { inHand, unconfirmedMs } = late;
  if (unconfirmedMs < LATE_MS) return null;
  const since = new Date(time - unconfirmedMs).toISOString();
  const ofAll = `${inHand} in hand of ${IN_FLIGHT.toLocaleString('en-US')}`;
  return `payments are delivered but not confirmed: the read model is behind the event store's head since ${since}; ${ofAll}`;
}

export type Dispatcher = Awaited<ReturnType<typeof startDispatcher>>;

type Made = 'interrupt' | 'abandon' | 'refused' | 'confirmation' | 'log' | 'requests';

export type DispatcherParts = Omit<FanOutParts, Made> & {
  readonly broker: Broker;
  readonly scheduler: Pick<DeliveryScheduler, 'acquire' | 'close'>;
  readonly group: string;
  /** The identity of the event store behind the read model. */
  readonly store: string;
  readonly passHead: PassHead;
  /** How long a stop waits for attempts in progress. */
  readonly drainMs?: number;
  readonly backpressure: Pick<Backpressure, 'mayConsume'>;
};

export async function startDispatcher(given: DispatcherParts) {
  const { drainMs = DRAIN_MS } = given;
  const interrupt = new AbortController();
  const abandon = new AbortController();
  let refused: (error: BrokerRefused) => void = () => undefined;
  const refusal = new Promise<never>((_, reject) => {
    refused = reject;
  });
  const signals = { interrupt: interrupt.signal, abandon: abandon.signal, refused };
  const confirmation = new Confirmation(given.passHead, interrupt.signal, given.monotonicNow);
  const log = new LogWriter({ ...given, ...signals, topic: given.topics.deliveries });
  const requests = new Requests(given);
  const parts = { ...given, ...signals, confirmation, log, requests };
  const { schedule, topics } = parts;
  const { retry, deferred } = topics.tiers(schedule);
  const written = [...retry, ...deferred].map(({ topic }) => topic);
  // Processes with different schedules may share an installation, and each writes to its own tiers.
  const tiers = [...new Set([...written, ...(await parts.broker.listTopics()).filter(topics.isTier)])];
  const own = [topics.deadLetters, topics.deliveries, topics.requests, topics.notices];
  await parts.broker.ensureTopics([...topics.payments, ...tiers, ...own]);
  const closing = new AbortController();
  await requests.start(closing.signal);
  const { payments, retries, notices } = await consumeAll(parts, tiers).catch((error: unknown) => {
    closing.abort();
    throw error;
  });
  const consumers = [payments, retries, notices];
  // Redelivered records would be attempted again, and again in vain.
  refusal.catch(() => {
    for (const consumer of consumers) consumer.stop();
  });
  const died = Promise.all(consumers.map((consumer) => consumer.closed));
  return {
    /** Fulfilled once closed. Rejected if a consumer died for good, or the broker refused a publish. */
    closed: Promise.race([refusal, died]).then(() => undefined),
    state: () => ({
      payments: payments.state(),
      retries: retries.state(),
      /** For how long the oldest unconfirmed decision has waited, in ms; 0 if all are confirmed. */
      unconfirmedMs: confirmation.waitingMs,
      /** Whether it has partition 0 of the notices: one process of the installation does. */
      writesNotices: notices.state().partitions.some(({ partition }) => partition === 0),
    }),
    async close(): Promise<void> {
      closing.abort();
      const closed = Promise.all(consumers.map((consumer) => consumer.close()));
      parts.scheduler.close();
      const endWhatIsLeft = setTimeout(() => interrupt.abort(), drainMs);
      const giveUp = setTimeout(() => abandon.abort(), drainMs + ABANDON_MS);
      await closed;
      clearTimeout(endWhatIsLeft);
      clearTimeout(giveUp);
    },
  };
}

async function consumeAll(parts: ConsumingParts, tiers: readonly string[]) {
  const { broker, group, topics } = parts;
  const deliver = createDeliver(parts);
  const common = {
    inFlight: IN_FLIGHT,
    inFlightBytes: IN_FLIGHT_BYTES,
    mayBegin: () => parts.backpressure.mayConsume(),
    onUnreadable: (batch: UnreadableBatch) => buryBatch(parts, batch),
  };
  const retry = eachStepOnce(deliver);
  const takeRequest = createTakeRequest(parts, retry);
  const takeWaiting = createTakeWaiting(parts, retry);
  const starting = [
    broker.consume({ ...common, topics: topics.payments, group, handler: createFanOut(parts, deliver) }),
    broker.consume({
      ...common,
      topics: [...tiers, topics.requests],
      group: retryGroup(group),
      notBefore: (record) => notBefore(parts, record),
      handler: (record, hold) => (record.topic === topics.requests ? takeRequest : takeWaiting)(record, hold),
    }),
    broker.consume({
      topics: [topics.notices],
      group: noticeGroup(group),
      inFlight: NOTICES_IN_FLIGHT,
      handler: async (record, hold) => {
        const notice = noticeDelivery(record);
        if (notice) await deliver(notice, hold);
        else parts.logger.warn(placeOf(record), 'a record is no notice and is left out');
      },
      onUnreadable: async (batch) => parts.logger.warn(batch, 'notices can not be read and are not sent'),
    }),
  ] as const;
  try {
    const [payments, retries, notices] = await Promise.all(starting);
    return { payments, retries, notices };
  } catch (error) {
    const settled = await Promise.allSettled(starting);
    for (const one of settled) if (one.status === 'fulfilled') await one.value.close();
    throw error;
  }
}

type ConsumingParts = FanOutParts &
  Pick<DispatcherParts, 'broker' | 'group' | 'backpressure'> & { readonly requests: Requests };

/** A cancellation is done once this process knows it: the request itself is the entry about it. */
function createTakeRequest(parts: ConsumingParts, retry: Deliver): RecordHandler {
  return async (record, hold) => {
    const request = requestIn(record);
    if (!request) return bury(parts, record, 'the record is not a request');
    parts.requests.learn(record);
    if (!request.cancels) await retry(request.delivery, hold);
  };
}

function createTakeWaiting(parts: ConsumingParts, retry: Deliver): RecordHandler {
  const { retry: own, deferred } = parts.topics.tiers(parts.schedule);
  return async (record, hold) => {
    const stored = progressIn(record);
    const delivery = fromRetryRecord(record, stored);
    if (!stored || !delivery) return bury(parts, record, 'the record is not a retry record');
    if (!(await passOn(parts, [...own, ...deferred], delivery, stored))) await retry(delivery, hold);
  };
}

/** When a retry record is due, ms since the epoch. */
function notBefore({ topics, now }: FanOutParts, record: ReceivedRecord): number {
  const tier = topics.tierOf(record.topic);
  return Math.min(dueOf(record), now() + (tier ? longestWaitMs(tier) : 0));
}
