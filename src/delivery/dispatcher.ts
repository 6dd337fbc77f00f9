/**
 * Consumes payment topics and retry tiers. On SIGTERM it takes no more records and starts no more attempts: waiting deliveries go
 * to the first tier of deferred ones, uncounted. Attempts in flight have DRAIN_MS to end; then the rest are aborted and go there
 * too. Only then are offsets committed and partitions released, so after such a stop nothing that was done is sent again.
 */
import type {
  AcceptRecord,
  Broker,
  BrokerRefused,
  Consumer,
  ConsumerState,
  ReceivedRecord,
  RecordHandler,
  UnreadableBatch,
} from '../ports/broker.js';
import type { RequestChains } from '../ports/request-chains.js';
import { requestIn } from './again/request.js';
import { Requests } from './again/requests.js';
import { RequestsPruning } from './again/requests-pruning.js';
import type { Backpressure } from './backpressure.js';
import { Confirmation, type PassHead } from './confirmation.js';
import { createDeliver, type Deliver } from './delivery-attempt.js';
import { bury, buryBatch, createFanOut, type FanOutParts } from './fan-out.js';
import type { DeliveryScheduler } from './isolation/delivery-scheduler.js';
import { LogWriter } from './log/log-writer.js';
import { noticeDelivery, publishedNotice } from './notices/notice.js';
import { placeOf } from './record-place.js';
import { createAcceptBundle } from './retry/accept-bundle.js';
import { BundleWriter } from './retry/bundle-writer.js';
import { TierDiscovery } from './retry/tier-discovery.js';
import { Unpacking } from './retry/unpacking.js';
import { eachStepOnce } from './steps-once.js';
import { noticeGroup, retryGroup } from './topics.js';

const DRAIN_MS = 5_000;
const DISCOVER_TIERS_EVERY_MS = 60_000;
/** A head is passed within milliseconds, and within seconds after a restart of the event store. */
const LATE_MS = 30_000;
/** After the drain: time for retry records to become durable. */
const ABANDON_MS = 3_000;
/** Per consumer: records, of which one may wait in the queues of three URLs. More than the queues share: decision 0014 has the exception. */
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

type Made = 'interrupt' | 'abandon' | 'refused' | 'confirmation' | 'log' | 'bundles' | 'requests';

export type DispatcherParts = Omit<FanOutParts, Made> & {
  readonly broker: Broker;
  readonly scheduler: Pick<DeliveryScheduler, 'acquire' | 'close'>;
  readonly group: string;
  /** The identity of the event store behind the read model. */
  readonly store: string;
  readonly passHead: PassHead;
  /** It stays open: the next dispatcher of the process continues with it. */
  readonly requestChains: RequestChains;
  /** How long a stop waits for attempts in progress. */
  readonly drainMs?: number;
  readonly backpressure: Pick<Backpressure, 'asker'>;
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
  const bundles = new BundleWriter({ ...given, ...signals });
  const requests = new Requests(given);
  const parts = { ...given, ...signals, confirmation, log, bundles, requests };
  const { schedule, topics } = parts;
  const { retry, deferred } = topics.tiers(schedule);
  const written = [...retry, ...deferred].map(({ topic }) => topic);
  // Processes with different schedules may share an installation, and each writes to its own tiers.
  const tiers = [...new Set([...written, ...(await parts.broker.listTopics()).filter(topics.isTier)])];
  const own = [topics.deadLetters, topics.deliveries, topics.requests, topics.notices];
  await parts.broker.ensureTopics([...topics.payments, ...tiers, ...own]);
  const closing = new AbortController();
  await requests.start(closing.signal);
  new RequestsPruning(parts).start(closing.signal);
  const deliver = createDeliver(parts);
  const readTiers = createReadTiers(parts, deliver, closing.signal);
  const starting = consumeAll(parts, deliver, () => readTiers([...tiers, topics.requests]));
  const { payments, retries, notices } = await starting.catch((error: unknown) => {
    closing.abort();
    throw error;
  });
  const consumers = [payments, retries, notices];
  const discovery = new TierDiscovery({ ...parts, consume: readTiers }, tiers);
  void discovery.run(DISCOVER_TIERS_EVERY_MS, closing.signal);
  // Redelivered records would be attempted again, and again in vain.
  refusal.catch(() => {
    for (const consumer of [...consumers, ...discovery.consumers]) consumer.stop();
  });
  const died = Promise.all(consumers.map((consumer) => consumer.closed));
  return {
    /** Fulfilled once closed. Rejected if a consumer died for good, or the broker refused a publish. */
    closed: Promise.race([refusal, died]).then(() => undefined),
    state: () => ({
      payments: payments.state(),
      retries: mergeStates(retries, discovery.consumers),
      /** Other applications in the consumer groups, a sentence each. */
      foreign: [...consumers, ...discovery.consumers].flatMap((consumer) => consumer.state().foreign ?? []),
      /** Records in each tier that this dispatcher does not read; 0 for a tier that it reads. */
      unreadTiers: discovery.unread,
      /** For how long the oldest unconfirmed decision has waited, in ms; 0 if all are confirmed. */
      unconfirmedMs: confirmation.waitingMs,
      /** Why no delivery is made: it is not known what was cancelled; null if it is. */
      requestsUnknown: requests.trouble,
      /** Whether it has partition 0 of the notices: one process of the installation does. */
      writesNotices: notices.state().partitions.some(({ partition }) => partition === 0),
    }),
    async close(): Promise<void> {
      closing.abort();
      const closed = Promise.all([...consumers, ...discovery.consumers].map((consumer) => consumer.close()));
      parts.scheduler.close();
      const endWhatIsLeft = setTimeout(() => interrupt.abort(), drainMs);
      const giveUp = setTimeout(() => abandon.abort(), drainMs + ABANDON_MS);
      await closed;
      clearTimeout(endWhatIsLeft);
      clearTimeout(giveUp);
    },
  };
}

/** Connected while the first is: the others only read tiers of other schedules. */
function mergeStates(first: Consumer, others: readonly Consumer[]): ConsumerState {
  const { connected, inHand, partitions } = first.state();
  const more = others.map((consumer) => consumer.state());
  return {
    connected,
    inHand: more.reduce((sum, state) => sum + state.inHand, inHand),
    partitions: [...partitions, ...more.flatMap((state) => state.partitions)],
  };
}

function toCommonOptions(parts: ConsumingParts) {
  const mayConsume = parts.backpressure.asker();
  return {
    inFlight: IN_FLIGHT,
    inFlightBytes: IN_FLIGHT_BYTES,
    mayBegin: (isUsual: boolean) => parts.requests.trouble === null && mayConsume(isUsual),
    onUnreadable: (batch: UnreadableBatch) => buryBatch(parts, batch),
  };
}

/** Starts consumers of the retry group. @param closing aborted as the dispatcher closes: they take no more records then */
function createReadTiers(
  parts: ConsumingParts,
  deliver: Deliver,
  closing: AbortSignal,
): (topics: readonly string[]) => Promise<Consumer> {
  const { broker, group, topics: names } = parts;
  const common = toCommonOptions(parts);
  const retry = eachStepOnce(deliver);
  const acceptRequest = createAcceptRequest(parts, retry);
  const mayUnpack = parts.backpressure.asker();
  const refuse = (record: ReceivedRecord) => bury(parts, record, 'the record is not a retry record');
  const mayContinue = () => closing.aborted || mayUnpack();
  const unpacking = new Unpacking({ deliver: retry, mayContinue, refuse });
  const acceptBundle = createAcceptBundle({ ...parts, unpacking, refuse, closing });
  return (topics) =>
    broker.consume({
      ...common,
      topics,
      group: retryGroup(group),
      mayBegin: (isUsual) => !closing.aborted && !unpacking.isFull && common.mayBegin(isUsual),
      accept: (record) => (record.topic === names.requests ? acceptRequest : acceptBundle)(record),
    });
}

async function consumeAll(parts: ConsumingParts, deliver: Deliver, readTiers: () => Promise<Consumer>) {
  const { broker, group, topics } = parts;
  const common = toCommonOptions(parts);
  // Payments and notices are decoded by their handlers: thousands wait here, and each would hold more than its bytes.
  const payment = { handle: createFanOut(parts, deliver) };
  const notice = { handle: createSendNotice(parts, deliver) };
  const starting = [
    broker.consume({
      ...common,
      topics: topics.payments,
      group,
      turnsByKey: true,
      accept: () => payment,
    }),
    readTiers(),
    broker.consume({
      topics: [topics.notices],
      group: noticeGroup(group),
      inFlight: NOTICES_IN_FLIGHT,
      accept: () => notice,
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

function createSendNotice(parts: ConsumingParts, deliver: Deliver): RecordHandler {
  return async (record, hold) => {
    const notice = noticeDelivery(record);
    if (notice) await deliver(notice, hold);
    else if (!publishedNotice(record)) parts.logger.warn(placeOf(record), 'skipping a record that is not a notice');
  };
}

/** A cancellation is done once this process knows it: the request itself is the entry about it. */
function createAcceptRequest(parts: ConsumingParts, retry: Deliver): AcceptRecord {
  return (accepted) => {
    const request = requestIn(accepted);
    const handle: RecordHandler = async (record, hold) => {
      if (!request) return bury(parts, record, 'the record is not a request');
      parts.requests.learn(request);
      if (!request.cancels) await retry(request.delivery, hold);
    };
    return { handle };
  };
}
