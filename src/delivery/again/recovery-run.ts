/**
 * One run of a recovery: requests what the view says can be sent again, and then what was missed, each oldest first; and
 * ends the recovery. One order over both would need both questions for each request.
 */
import type { Logger } from '../../observability/logger.js';
import { webhookMessageId } from '../../payments/parsed-payment.js';
import type { Broker } from '../../ports/broker.js';
import type { AccountView, AskView, ListPlace, MissedPayment } from '../../ports/deliveries-view.js';
import { UNDELIVERED } from '../../ports/deliveries-view.js';
import type { SendAgain, Sendable } from '../../ports/send-again.js';
import type { Accounts } from '../../read-model/accounts.js';
import type { RunningRecovery } from '../../read-model/running-recoveries.js';
import { viewEnds } from '../../read-model/view-follower.js';
import type { HandleCommand } from '../../webhooks/handle-command.js';
import type { Webhook } from '../../webhooks/state.js';
import type { Topics } from '../topics.js';

export interface RecoveryRunParts {
  readonly broker: Pick<Broker, 'extent'>;
  readonly topics: Pick<Topics, 'deliveries' | 'requests'>;
  readonly view: AskView;
  readonly accounts: Pick<Accounts, 'webhooks'>;
  readonly sendAgain: SendAgain;
  readonly handleCommand: HandleCommand;
  readonly logger: Logger;
  /** ms since the epoch. */
  readonly now: () => number;
  /** ms of a monotonic clock. */
  readonly monotonicNow: () => number;
  /** Takes one send of the account, which sends so many in a second over all of its recoveries. @returns ms until the next */
  readonly takeSend: (accountId: number) => number;
  /** Whether this process runs the recoveries now. */
  readonly isOwner: () => boolean;
  /** Fulfilled after this many ms, in another turn of the event loop. Rejected once this process must not go on. */
  readonly pause: (ms: number) => Promise<void>;
}

const LOOK_EVERY_MS = 200;

type Reached =
  | { readonly of: 'deliveries'; readonly place: ListPlace | null }
  | { readonly of: 'missed'; readonly place: ListPlace };

/** reached is null: there is nothing behind. */
type Next = { readonly next: Sendable | null; readonly reached: Reached | null };

export class RecoveryRun {
  readonly #parts: RecoveryRunParts;
  readonly #running: RunningRecovery;
  #after: Reached = { of: 'deliveries', place: null };
  #due: number;
  #passedBy = 0;

  constructor(parts: RecoveryRunParts, running: RunningRecovery) {
    this.#parts = parts;
    this.#running = running;
    this.#due = parts.monotonicNow();
  }

  /**
   * Fulfilled where it has ended, or another process runs it.
   * @throws if the broker, the store or the view is unavailable: run it anew
   */
  async done(): Promise<void> {
    const { monotonicNow, pause } = this.#parts;
    const webhooks = await this.#webhooks();
    let viewId = await this.#completeView();
    for (;;) {
      this.#due = Math.max(this.#due, monotonicNow());
      await pause(this.#due - monotonicNow());
      // After the pause: it may have been delivered or cancelled meanwhile.
      const { next, reached } = await this.#next(viewId, webhooks);
      if (!(await this.#isOn())) return;
      if (reached === null) return this.#finish();
      if (!next || (await this.#isHandled(next))) this.#after = reached;
      // It has waited: another process may have run the recovery meanwhile.
      else viewId = await this.#completeView();
    }
  }

  /** @returns the id of a view that has what both topics have now: also what a killed process had requested */
  async #completeView(): Promise<string> {
    const { broker, topics, view, pause } = this.#parts;
    const ends = await viewEnds(broker, topics);
    for (;;) {
      const complete = await view.idBehind(ends);
      if (complete !== null) return complete;
      await pause(LOOK_EVERY_MS);
    }
  }

  /** What never changes of a webhook is all that is asked of them. */
  async #webhooks(): Promise<readonly Webhook[]> {
    const { accountId, recovery } = this.#running;
    const account = await this.#parts.accounts.webhooks(accountId);
    return account?.webhooks.filter(({ id }) => recovery.webhookIds.includes(id)) ?? [];
  }

  /** @throws if the view was discarded: the next one has nothing at first, which is not the end */
  async #next(viewId: string, webhooks: readonly Webhook[]): Promise<Next> {
    const ask = async (sound: AccountView) => (sound.viewId === viewId ? this.#nextIn(sound, webhooks) : null);
    const found = await this.#parts.view.ask(this.#running.accountId, ask);
    if (!found) throw new Error('the deliveries view is being rebuilt');
    return found;
  }

  async #nextIn(view: AccountView, webhooks: readonly Webhook[]): Promise<Next> {
    const { accountId, recovery } = this.#running;
    const { id, webhookIds, include } = recovery;
    const period = { since: Date.parse(recovery.since), until: Date.parse(recovery.until) };
    const after = this.#after;
    if (after.of === 'deliveries') {
      const query = { ...period, webhookIds, include: UNDELIVERED.filter((kind) => include.includes(kind)) };
      const { delivery, reached } = await view.nextRecoverable(query, id, after.place);
      if (reached) return { next: delivery, reached: { of: 'deliveries', place: reached } };
    }
    if (!include.includes('missed')) return { next: null, reached: null };
    const place = after.of === 'missed' ? after.place : null;
    const { missed, reached } = await view.nextMissed({ ...period, webhooks }, place);
    const next = missed && sendable(missed, accountId, webhooks);
    return { next, reached: reached && { of: 'missed', place: reached } };
  }

  /** False: the account has stopped it, or another process runs it. */
  async #isOn(): Promise<boolean> {
    const { accounts, isOwner } = this.#parts;
    const { accountId, recovery } = this.#running;
    const account = await accounts.webhooks(accountId);
    const isRunning = account?.recoveries.some(({ id, state }) => id === recovery.id && state === 'running');
    return isRunning === true && isOwner();
  }

  /** Requested, or passed by. False: it has to wait. */
  async #isHandled(next: Sendable): Promise<boolean> {
    const { sendAgain, monotonicNow, takeSend, pause } = this.#parts;
    const { accountId, recovery } = this.#running;
    const { id, actor, perSecond } = recovery;
    const sent = await sendAgain(next, { trigger: 'recover', actor, recovery: id });
    if (sent.kind === 'too-much-sent-again') {
      await pause(sent.retryAfterMs);
      return false;
    }
    if (sent.kind !== 'accepted') this.#passedBy += 1;
    else this.#due = Math.max(this.#due + 1_000 / perSecond, monotonicNow() + takeSend(accountId));
    return true;
  }

  async #finish(): Promise<void> {
    const { handleCommand, logger, now } = this.#parts;
    const { accountId, recovery } = this.#running;
    const { id: recoveryId, webhookIds } = recovery;
    const passedBy = this.#passedBy;
    const command = { type: 'FinishRecovery', recoveryId, passedBy, at: new Date(now()).toISOString() } as const;
    await handleCommand(accountId, command, { actor: 'recovery', requestId: recoveryId, correlationId: recoveryId });
    logger.info({ recoveryId, accountId, webhookIds, passedBy }, 'a recovery is done');
  }
}

function sendable(missed: MissedPayment, accountId: number, webhooks: readonly Webhook[]): Sendable | null {
  const { webhookId, payment } = missed;
  const id = webhookMessageId(accountId, missed, webhookId);
  const webhook = webhooks.find((one) => one.id === webhookId);
  return webhook
    ? { accountId, id, webhookId, webhookEvent: webhook.addedBy, payment, outcome: 'retrying', step: 0, requests: 0 }
    : null;
}
