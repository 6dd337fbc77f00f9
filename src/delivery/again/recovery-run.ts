/**
 * One run of a recovery, from its record in the topic to its end. Progress is not stored: what this recovery has put back
 * says so in the log, and the view leaves it out. So after a crash, or an outage of the broker or the store, another run
 * goes on where this one ended.
 */
import type { Logger } from '../../observability/logger.js';
import type { Broker } from '../../ports/broker.js';
import type { DeliveriesView, DeliveryDetail, DeliveryPlace, Recoverable } from '../../ports/deliveries-view.js';
import type { RecoveryOrder, SendAgain } from '../../ports/send-again.js';
import type { Accounts } from '../../read-model/accounts.js';
import type { HandleCommand } from '../../webhooks/handle-command.js';
import type { AccountWebhooks, Recovery } from '../../webhooks/state.js';
import type { Topics } from '../topics.js';

export interface RecoveryRunParts {
  readonly broker: Pick<Broker, 'extent'>;
  readonly topics: Pick<Topics, 'deliveries'>;
  readonly view: { ask<T>(question: (view: DeliveriesView) => T, nothing: T): T };
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
  /** Fulfilled once the account may send one more, over all of its recoveries. */
  readonly accountMaySend: (accountId: number) => Promise<void>;
}

/** The record is published before the event. */
const EVENT_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 200;

/** @throws if the broker or the store is unavailable, or this process must not go on: the record is handed out again */
export async function runRecovery(parts: RecoveryRunParts, order: RecoveryOrder): Promise<void> {
  const { logger } = parts;
  const about = { recoveryId: order.id, accountId: order.accountId, webhookId: order.webhookId };
  const recovery = await started(parts, order);
  if (!recovery) return logger.info(about, 'a recovery has ended, or was not accepted');
  logger.info(about, 'a recovery runs');
  const state = await sendAll(parts, order, recovery);
  if (state !== null) await finish(parts, order, state);
  logger.info({ ...about, state }, 'a recovery ended');
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
    await parts.accountMaySend(order.accountId);
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
  const { since, until } = recovery;
  const include = recovery.include as readonly Recoverable[];
  const about = { accountId, webhookId, since: Date.parse(since), until: Date.parse(until), include, recovery: id };
  let complete = '';
  let after: DeliveryPlace | null = null;
  return async (): Promise<DeliveryDetail | null> => {
    for (;;) {
      complete = await completeView(parts, complete);
      // A view that is discarded meanwhile gives nothing, which is not the end.
      const found = parts.view.ask((view) => view.recoverable(about, after, 1), null);
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

async function finish(
  { handleCommand, now }: RecoveryRunParts,
  { id, accountId }: RecoveryOrder,
  state: 'done' | 'stopped',
) {
  const command = { type: 'FinishRecovery', recoveryId: id, state, at: new Date(now()).toISOString() } as const;
  await handleCommand(accountId, command, { actor: 'recovery', requestId: id, correlationId: id });
}

function recoveryIn(account: AccountWebhooks | undefined, { id }: RecoveryOrder): Recovery | undefined {
  return account?.recoveries.find((recovery) => recovery.id === id);
}
