/**
 * Runs the recoveries of the topic, shared with the other API processes: each record is one, and is done at its end. Progress
 * is not stored: what a recovery has put back says so in the log, and the view leaves it out. So after a crash, or an outage
 * of the broker or the store, another run goes on where this one ended.
 */
import type { Logger } from '../../observability/logger.js';
import type { Broker, Consumer, NewRecord, ReceivedRecord, RecordHold } from '../../ports/broker.js';
import type { AskView, DeliveryDetail, DeliveryPlace, Recoverable } from '../../ports/deliveries-view.js';
import type { RecoveryOrder, SendAgain } from '../../ports/send-again.js';
import type { Accounts } from '../../read-model/accounts.js';
import { retry, sleep } from '../../time/retry.js';
import type { HandleCommand } from '../../webhooks/handle-command.js';
import type { AccountWebhooks, Recovery } from '../../webhooks/state.js';
import { jsonIn } from '../record-place.js';
import { recoveryGroup, type Topics } from '../topics.js';

interface RecoveryRunnerParts extends Omit<RecoveryRunParts, 'pause' | 'mustBeOwn'> {
  readonly broker: Pick<Broker, 'extent' | 'consume' | 'ensureTopics'>;
  readonly topics: Pick<Topics, 'deliveries' | 'recoveries'>;
  readonly group: string;
}

/** Recoveries that run in this process. */
const IN_FLIGHT = 2_000;

export function toRecoveryRecord(order: RecoveryOrder): NewRecord {
  return { key: Buffer.from(order.id), value: Buffer.from(JSON.stringify(order)), headers: [] };
}

export class RecoveryRunner {
  readonly #parts: RecoveryRunnerParts;
  readonly #stopping = new AbortController();
  #consumer: Consumer | null = null;
  #running: Promise<void> | null = null;

  constructor(parts: RecoveryRunnerParts) {
    this.#parts = parts;
  }

  /** Returns at once, even if the broker is unreachable. */
  start(): void {
    const { signal } = this.#stopping;
    const failed = (error: unknown) => this.#parts.logger.warn({ err: error }, 'recoveries cannot be read; retrying');
    this.#running = retry(() => this.#consume(), { signal, failed });
  }

  /** Recoveries that run go on in another process, or after the next start. */
  async close(): Promise<void> {
    this.#stopping.abort();
    await this.#consumer?.close();
    await this.#running;
  }

  async #consume(): Promise<void> {
    const { broker, topics, group, logger } = this.#parts;
    await broker.ensureTopics([topics.recoveries, topics.deliveries]);
    this.#consumer = await broker.consume({
      topics: [topics.recoveries],
      group: recoveryGroup(group),
      inFlight: IN_FLIGHT,
      handler: (record, hold) => this.#handle(record, hold),
      onUnreadable: async (batch) =>
        logger.error(batch, 'a batch of the recoveries topic can not be read: skipping it'),
    });
    if (this.#stopping.signal.aborted) await this.#consumer.close();
    await this.#consumer.closed;
  }

  async #handle(record: ReceivedRecord, hold: RecordHold): Promise<void> {
    const order = orderIn(record);
    const { logger } = this.#parts;
    if (!order) return logger.warn({ offset: record.offset }, 'a record of the recoveries topic is not valid');
    const { signal } = this.#stopping;
    const pause = async (ms: number) => {
      if (ms > 0) await sleep(ms, signal);
      signal.throwIfAborted();
    };
    try {
      await runRecovery({ ...this.#parts, pause, mustBeOwn: () => mustBeOwn(hold) }, order);
    } catch (error) {
      if (!signal.aborted) logger.warn({ err: error, recoveryId: order.id }, 'a recovery is interrupted');
      throw error;
    }
  }
}

/** Null for a foreign record. */
function orderIn(record: ReceivedRecord): RecoveryOrder | null {
  const order = jsonIn<RecoveryOrder>(record);
  const isSound = [order?.id, order?.actor].every((text) => typeof text === 'string');
  return isSound && [order?.accountId, order?.webhookId].every(Number.isSafeInteger) ? order : null;
}

async function mustBeOwn(hold: RecordHold): Promise<void> {
  if (!(await hold.isOwn())) throw new Error('another process now has the recovery');
}

export interface RecoveryRunParts {
  readonly broker: Pick<Broker, 'extent'>;
  readonly topics: Pick<Topics, 'deliveries'>;
  readonly view: AskView;
  readonly accounts: Pick<Accounts, 'webhooks' | 'webhooksNow'>;
  readonly sendAgain: SendAgain;
  readonly handleCommand: HandleCommand;
  readonly logger: Logger;
  /** ms since the epoch. */
  readonly now: () => number;
  /** ms of a monotonic clock. */
  readonly monotonicNow: () => number;
  /** Fulfilled after this many ms. Rejected once this process must not go on. */
  readonly pause: (ms: number) => Promise<void>;
  /** Rejected if another process has the record. */
  readonly mustBeOwn: () => Promise<void>;
  /** Takes one send of the account. @returns ms until it may send; 0 or less: it was taken */
  readonly takeSend: (accountId: number) => number;
}

/** The record is published before the event. */
const EVENT_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 200;

/** @throws if the broker or the store is unavailable, or this process must not go on: the record is handed out again */
export async function runRecovery(parts: RecoveryRunParts, order: RecoveryOrder): Promise<void> {
  const { logger } = parts;
  const logFields = { recoveryId: order.id, accountId: order.accountId, webhookId: order.webhookId };
  const recovery = await started(parts, order);
  if (!recovery) return logger.info(logFields, 'a recovery has ended, or was not accepted');
  logger.info(logFields, 'a recovery runs');
  const state = await sendAll(parts, order, recovery);
  if (state !== null) {
    const at = new Date(parts.now()).toISOString();
    const command = { type: 'FinishRecovery', recoveryId: order.id, state, at } as const;
    const context = { actor: 'recovery', requestId: order.id, correlationId: order.id };
    await parts.handleCommand(order.accountId, command, context);
  }
  logger.info({ ...logFields, state }, 'a recovery ended');
}

/** Null if it does not run. */
async function started({ accounts, monotonicNow, pause }: RecoveryRunParts, order: RecoveryOrder) {
  const begun = monotonicNow();
  for (;;) {
    const recovery = recoveryIn(await accounts.webhooksNow(order.accountId), order);
    if (recovery) return recovery.state === 'running' ? recovery : null;
    if (monotonicNow() - begun >= EVENT_WITHIN_MS) return null;
    await pause(LOOK_EVERY_MS);
  }
}

/** How it ends; null: the account has ended it. */
async function sendAll(
  parts: RecoveryRunParts,
  order: RecoveryOrder,
  recovery: Recovery,
): Promise<'done' | 'stopped' | null> {
  const next = deliveriesOf(parts, order, recovery);
  let due = parts.monotonicNow();
  for (;;) {
    due = Math.max(due, parts.monotonicNow());
    await parts.pause(due - parts.monotonicNow());
    // The account sends so many in a second, over all of its recoveries.
    for (let ms = parts.takeSend(order.accountId); ms > 0; ms = parts.takeSend(order.accountId)) await parts.pause(ms);
    due += 1_000 / recovery.perSecond;
    await parts.mustBeOwn();
    const account = await parts.accounts.webhooks(order.accountId);
    if (recoveryIn(account, order)?.state !== 'running') return null;
    if (!account?.webhooks.some(({ id, isActive }) => id === order.webhookId && isActive)) return 'stopped';
    // After the pauses: it may have been delivered or cancelled meanwhile.
    const delivery = await next();
    if (!delivery) return 'done';
    const sent = await parts.sendAgain(delivery, { trigger: 'recover', actor: order.actor, recovery: order.id });
    if (sent !== 'put-back') {
      parts.logger.warn({ recoveryId: order.id, deliveryId: delivery.id, sent }, 'a delivery could not be recovered');
    }
  }
}

/** Oldest first, each as it is when it is asked for; null after the last one. */
function deliveriesOf(parts: RecoveryRunParts, order: RecoveryOrder, recovery: Recovery) {
  const { accountId, webhookId, id } = order;
  const [since, until] = [Date.parse(recovery.since), Date.parse(recovery.until)];
  const include = recovery.include as readonly Recoverable[];
  const query = { accountId, webhookId, since, until, include, recovery: id };
  let complete = '';
  let after: DeliveryPlace | null = null;
  return async (): Promise<DeliveryDetail | null> => {
    for (;;) {
      complete = await completeView(parts, complete);
      // A view that is discarded meanwhile gives nothing, which is not the end.
      const found = parts.view.ask((view) => view.recoverable(query, after, 1), null);
      const [next = null] = found ?? [];
      if (next) after = { firstAt: next.firstAt, id: next.id, payment: next.payment ?? '' };
      if (found) return next;
    }
  };
}

/**
 * The id of the view, once it has all entries that were in the topic at the time of the call: also what a killed process had
 * put back. @param known a view that was complete before
 */
async function completeView({ broker, topics, view, pause }: RecoveryRunParts, known: string): Promise<string> {
  const idNow = () => view.ask(({ id }) => id, '');
  if (known !== '' && idNow() === known) return known;
  const ends = await broker.extent(topics.deliveries);
  for (;;) {
    const id = idNow();
    const reached = view.ask((sound) => sound.positions(), null);
    if (reached && [...ends].every(([partition, { next }]) => (reached.get(partition)?.offset ?? 0) >= next)) return id;
    await pause(LOOK_EVERY_MS);
  }
}

function recoveryIn(account: AccountWebhooks | undefined, { id }: RecoveryOrder): Recovery | undefined {
  return account?.recoveries.find((recovery) => recovery.id === id);
}
