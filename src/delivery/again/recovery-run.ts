/** One run of a recovery: requests what the view says can be sent again, oldest first, and ends the recovery. */
import type { Logger } from '../../observability/logger.js';
import type { Broker } from '../../ports/broker.js';
import type {
  AskView,
  DeliveryDetail,
  DeliveryPlace,
  NextRecoverable,
  Recoverable,
} from '../../ports/deliveries-view.js';
import type { SendAgain } from '../../ports/send-again.js';
import type { Accounts } from '../../read-model/accounts.js';
import type { RunningRecovery } from '../../read-model/running-recoveries.js';
import type { HandleCommand } from '../../webhooks/handle-command.js';
import type { AccountWebhooks } from '../../webhooks/state.js';
import { hasPassed, viewEnds } from '../log/view-follower.js';
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
  /** Reads, at the account's cost. */
  readonly charged: <T>(accountId: number, read: () => T) => T;
  /** Takes one send of the account. @returns ms until it may send; 0 or less: it was taken */
  readonly takeSend: (accountId: number) => number;
  /** Whether this process runs the recoveries now. */
  readonly isOwner: () => boolean;
  /** Fulfilled after this many ms, in another turn of the event loop. Rejected once this process must not go on. */
  readonly pause: (ms: number) => Promise<void>;
}

const LOOK_EVERY_MS = 200;

export class RecoveryRun {
  readonly #parts: RecoveryRunParts;
  readonly #running: RunningRecovery;
  /** The view that was complete; empty: none, or too long ago. */
  #viewId = '';
  #after: DeliveryPlace | null = null;
  #due: number;
  /** A send of the account was taken and not used yet. */
  #maySend = false;
  /** How many were not sent, by reason. */
  readonly #passedBy: Record<string, number> = {};

  constructor(parts: RecoveryRunParts, running: RunningRecovery) {
    this.#parts = parts;
    this.#running = running;
    this.#due = parts.monotonicNow();
  }

  /** Fulfilled where it has ended, or another process runs it. @throws if the broker or the store is unavailable: run it anew */
  async done(): Promise<void> {
    for (;;) {
      await this.#pace();
      // After the pauses: it may have been delivered or cancelled meanwhile.
      const { delivery, reached } = await this.#next();
      const account = await this.#accountIfOn();
      if (!account) return;
      if (reached === null) return this.#finish();
      if (!delivery || (await this.#isHandled(delivery, account))) this.#after = reached;
    }
  }

  async #pace(): Promise<void> {
    const { monotonicNow, pause, takeSend } = this.#parts;
    this.#due = Math.max(this.#due, monotonicNow());
    await pause(this.#due - monotonicNow());
    while (!this.#maySend) {
      // The account sends so many in a second, over all of its recoveries.
      const ms = takeSend(this.#running.accountId);
      this.#maySend = ms <= 0;
      if (ms > 0) await pause(ms);
    }
  }

  async #next(): Promise<NextRecoverable> {
    const { view, charged } = this.#parts;
    const { accountId, recovery } = this.#running;
    const { id, webhookIds } = recovery;
    const include = recovery.include as readonly Recoverable[];
    const query = {
      accountId,
      webhookIds,
      include,
      since: Date.parse(recovery.since),
      until: Date.parse(recovery.until),
    };
    for (;;) {
      await this.#untilComplete();
      // A view that is discarded meanwhile gives nothing, which is not the end.
      const ask = () => view.ask((sound) => sound.nextRecoverable(query, id, this.#after), null);
      const found = charged(accountId, ask);
      if (found) return found;
    }
  }

  /** The view has what both topics had at the time of the call: also what a killed process had requested. */
  async #untilComplete(): Promise<void> {
    const { broker, topics, view, pause } = this.#parts;
    if (this.#viewId !== '' && view.ask(({ id }) => id, '') === this.#viewId) return;
    const ends = await viewEnds(broker, topics);
    for (;;) {
      this.#viewId = view.ask((sound) => (hasPassed(sound, ends) ? sound.id : ''), '');
      if (this.#viewId !== '') return;
      await pause(LOOK_EVERY_MS);
    }
  }

  /** Null: the account has stopped it, or another process runs it. */
  async #accountIfOn(): Promise<AccountWebhooks | null> {
    const { accounts, isOwner } = this.#parts;
    const { accountId, recovery } = this.#running;
    const account = await accounts.webhooks(accountId);
    const isOn = account?.recoveries.some(({ id, state }) => id === recovery.id && state === 'running');
    return account && isOn && isOwner() ? account : null;
  }

  /** Requested, or passed by. False: it has to wait. */
  async #isHandled(delivery: DeliveryDetail, { webhooks }: AccountWebhooks): Promise<boolean> {
    const { sendAgain, pause } = this.#parts;
    const { id: recovery, actor, perSecond } = this.#running.recovery;
    // From memory: sendAgain looks into the store before it says so, and all deliveries of a removed webhook pass here.
    const isActive = webhooks.some((webhook) => webhook.id === delivery.webhookId && webhook.isActive);
    const asked = { trigger: 'recover', actor, recovery } as const;
    const sent = isActive ? await sendAgain(delivery, asked) : ({ kind: 'inactive' } as const);
    if (sent.kind === 'over-budget') {
      await pause(sent.ms);
      // Another process may have run the recovery meanwhile.
      this.#viewId = '';
      return false;
    }
    if (sent.kind === 'requested') {
      this.#due += 1_000 / perSecond;
      this.#maySend = false;
    } else this.#passedBy[sent.kind] = (this.#passedBy[sent.kind] ?? 0) + 1;
    return true;
  }

  async #finish(): Promise<void> {
    const { handleCommand, logger, now } = this.#parts;
    const { accountId, recovery } = this.#running;
    const { id: recoveryId, webhookIds } = recovery;
    const passedBy = Object.values(this.#passedBy).reduce((sum, count) => sum + count, 0);
    const command = { type: 'FinishRecovery', recoveryId, passedBy, at: new Date(now()).toISOString() } as const;
    await handleCommand(accountId, command, { actor: 'recovery', requestId: recoveryId, correlationId: recoveryId });
    logger.info({ recoveryId, accountId, webhookIds, passedBy: this.#passedBy }, 'a recovery is done');
  }
}
