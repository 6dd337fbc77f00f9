/**
 * One step of a delivery: route it, acquire a slot at its endpoint, send one request, and make the consequence
 * (next-step.ts) durable: the retry record or dead letter first, then the log entry about it. So a delivery that the log
 * calls waiting does wait, whatever fails in between. A notice is a delivery that is not logged, and has no dead letter.
 */
import { contentOf } from '../payments/cloud-event-attributes.js';
import { heldBytes, type RecordHold } from '../ports/broker.js';
import type { LoggedAttempt } from '../ports/log-entry.js';
import type { Accounts } from '../read-model/accounts.js';
import type { WasRemoved } from '../read-model/removed-webhooks.js';
import { responsePlace, type Sealing } from '../secrets/sealing.js';
import type { Webhook } from '../webhooks/state.js';
import type { Requests } from './again/requests.js';
import type { AttemptResult } from './attempt/attempt.js';
import { endOf } from './attempt/classification.js';
import { type SendParts, sendTo } from './attempt/send.js';
import type { Confirmation } from './confirmation.js';
import { deadLetterOf } from './dead-letters.js';
import { type Delivery, toMember } from './delivery.js';
import { aboutDelivery, tellBreaker, tellStep, tellSuperseded } from './delivery-telling.js';
import { type DurablePublishParts, publishUntilDurable } from './durable-publish.js';
import type { EndpointHealth } from './endpoint-health.js';
import { endpointKey } from './endpoint-key.js';
import type { DeliveryScheduler } from './isolation/delivery-scheduler.js';
import type { Acquired, Deferred, Queueing } from './isolation/endpoint.js';
import { logEntry, loggedAttempt } from './log/log-record.js';
import type { LogWriter } from './log/log-writer.js';
import { type NextStep, nextStep, type StepResult } from './next-step.js';
import { noticeBody } from './notices/notice.js';
import { confirmedRecipientOf, type OffBy, recipientOf } from './recipient.js';
import type { BundleWriter } from './retry/bundle-writer.js';
import { type Delay, lifetimeMs } from './retry/retry-schedule.js';
import { type SwitchOffParts, switchedOffBy } from './switch-off.js';
import type { Tiers, Topics } from './topics.js';

export interface DeliverParts extends SwitchOffParts, SendParts, DurablePublishParts {
  readonly accounts: Accounts;
  readonly wasRemoved: WasRemoved;
  readonly confirmation: Pick<Confirmation, 'confirmed'>;
  readonly requests: Pick<Requests, 'laterChain'>;
  readonly scheduler: Pick<DeliveryScheduler, 'acquire'>;
  readonly health: EndpointHealth;
  readonly sealing: Pick<Sealing, 'seal'>;
  readonly log: Pick<LogWriter, 'add'>;
  readonly bundles: Pick<BundleWriter, 'write' | 'gather'>;
  readonly topics: Topics;
  readonly schedule: readonly Delay[];
  /** The timeout of one attempt. */
  readonly timeoutMs: number;
  /** Event types that are delivered before all others of the same URL. */
  readonly urgentTypes: readonly string[];
  /** ms of a monotonic clock. */
  readonly monotonicNow: () => number;
  readonly random: () => number;
}

/**
 * Fulfilled when the delivery has ended or its next attempt is durable. Rejected if the service abandons its work, or
 * if another consumer got the record before the delivery had a slot: that consumer delivers. False: it was deferred, and no
 * attempt was made.
 */
export type Deliver = (delivery: Delivery, hold: RecordHold) => Promise<boolean>;

export function createDeliver(given: DeliverParts): Deliver {
  const { topics, schedule, timeoutMs } = given;
  const parts = { ...given, tiers: topics.tiers(schedule), lifetimeMs: lifetimeMs(schedule, timeoutMs) };
  return (delivery, hold) => new DeliveryAttempt(parts, delivery, hold).run();
}

interface Parts extends DeliverParts {
  readonly tiers: Tiers;
  readonly lifetimeMs: number;
}

/**
 *   taken -> routed -> acquired -> sent -> settled -> logged
 *              ^ |\-> deferred --------------^           (no slot)
 *              | \-> not active -> confirmed ^           (on the event store's word)
 *              \----------------------/                  (active after all, or another URL)
 *   until it is sent or settled -> superseded            (a later chain began: the record ends without an entry)
 */
class DeliveryAttempt {
  readonly #parts: Parts;
  readonly #delivery: Delivery;
  readonly #hold: RecordHold;
  readonly #takenAt: number;

  constructor(parts: Parts, delivery: Delivery, hold: RecordHold) {
    this.#parts = parts;
    this.#delivery = delivery;
    this.#hold = hold;
    this.#takenAt = parts.monotonicNow();
  }

  /** @returns whether its copies end */
  async run(): Promise<boolean> {
    const { accounts, scheduler } = this.#parts;
    const delivery = this.#delivery;
    const { accountId } = delivery;
    for (;;) {
      const mayGoOn = this.#mayGoOn();
      // Awaited only if it is unknown: records line up in the order in which they are handed out.
      if (mayGoOn !== true && !(await mayGoOn)) return true;
      const to = recipientOf(delivery, accounts);
      if (to.kind !== 'active') {
        const settled = await this.#unsent();
        if (settled !== null) return settled;
        continue;
      }
      const slot = await scheduler.acquire(accountId, to.webhook.endpoint, this.#queueing(to.webhook.endpoint));
      if (slot.kind === 'deferred') return this.#deferred(slot, to.webhook.endpoint);
      const sent = await this.#acquired(slot, to.webhook.endpoint);
      if (sent !== null) return sent;
    }
  }

  /** A later chain of the delivery began. */
  #isSuperseded(): boolean {
    const later = this.#parts.requests.laterChain(this.#delivery);
    if (later !== null) tellSuperseded(this.#parts, this.#delivery, later);
    return later !== null;
  }

  /** Asked when the record was taken, after a slot was acquired, and before an end or a deferral. @throws if another consumer has it */
  #mayGoOn(): boolean | Promise<boolean> {
    const isOwn = this.#hold.isOwn();
    if (isOwn === true) return !this.#isSuperseded();
    return Promise.resolve(isOwn).then((owns) => {
      if (!owns) throw new Error('another consumer now has the record');
      return !this.#isSuperseded();
    });
  }

  /** A delivery ends without an attempt only on the event store's word: the read model may be behind. Null: it is active. */
  async #unsent(): Promise<boolean | null> {
    const { accounts, confirmation, wasRemoved } = this.#parts;
    await confirmation.confirmed();
    const to = await confirmedRecipientOf(this.#delivery, accounts, wasRemoved);
    if (!(await this.#mayGoOn())) return true;
    if (to.kind === 'active') return null;
    return this.#settle({ kind: 'unsent', to }, NOWHERE);
  }

  async #deferred(deferral: Deferred, endpoint: string): Promise<boolean> {
    if (!(await this.#mayGoOn())) return true;
    return this.#settle(deferral, { endpoint, made: null });
  }

  /** When the endpoint that is noted as failing took nothing first, ms since the epoch. */
  #notedSince(endpoint: string): number | null {
    const noted = this.#parts.accounts.failingEndpoint(this.#delivery.accountId, endpoint);
    return noted ? Date.parse(noted.since) : null;
  }

  get #isUrgent(): boolean {
    return this.#parts.urgentTypes.includes(this.#delivery.eventType);
  }

  #queueing(endpoint: string): Queueing {
    const { id, payment, chain, record, deferredFrom, usedMs, attempts, waitingFor } = this.#delivery;
    const { lifetimeMs, now, monotonicNow } = this.#parts;
    const since = this.#notedSince(endpoint);
    return {
      bytes: heldBytes(record),
      delivery: `${id} ${payment}`,
      chain,
      isUrgent: this.#isUrgent,
      hadTurn: waitingFor === 'queue',
      awayMs: since === null ? usedMs - (deferredFrom ?? usedMs) : now() - since,
      leftMs: lifetimeMs - usedMs - (monotonicNow() - this.#takenAt),
      hasHadAttempt: attempts > 0,
    };
  }

  /** Null: it has to be routed again, for its webhook has changed meanwhile. */
  async #acquired(slot: Acquired, endpoint: string): Promise<boolean | null> {
    let over: Promise<void> | undefined;
    try {
      const mayGoOn = this.#mayGoOn();
      if (mayGoOn !== true && !(await mayGoOn)) return true;
      const to = recipientOf(this.#delivery, this.#parts.accounts);
      if (to.kind !== 'active' || to.webhook.endpoint !== endpoint) return null;
      const { webhook } = to;
      const made = await this.#send(webhook, slot);
      const tell = () => this.#tellEndpoint(slot, webhook, made);
      // A receiver that keeps its connection busy keeps its slot until then, but does not delay the result.
      if (made?.over) over = made.over.then(tell);
      else tell();
      const by = made?.kind === 'gone' ? await switchedOffBy(this.#parts, this.#delivery, webhook, made) : null;
      return await this.#settle(this.#resultOf(webhook, made, slot, by), { endpoint, made });
    } finally {
      if (over) void over.then(() => slot.leave());
      else slot.leave();
    }
  }

  /** Null if the attempt could not start: the fault is ours (keys, store), and no attempt is counted. */
  async #send(webhook: Webhook, { hasWaited }: Acquired): Promise<AttemptResult | null> {
    const { accountId, id, trace, record, cloudEvent, isNotice, trigger } = this.#delivery;
    const keepsAnswer = trigger === 'resend';
    const content = cloudEvent ? contentOf(cloudEvent, record) : undefined;
    const body = isNotice ? noticeBody(record, webhook) : (record.value ?? NOTHING);
    try {
      return await sendTo(this.#parts, webhook, { accountId, id, body, content, trace, keepsAnswer, hasWaited });
    } catch (err) {
      const { logger } = this.#parts;
      logger.error({ err, ...aboutDelivery(this.#delivery) }, 'a delivery could not be prepared; it will be retried');
      return null;
    }
  }

  #tellEndpoint(slot: Acquired, { endpoint }: Webhook, made: AttemptResult | null): void {
    const { health } = this.#parts;
    const delivery = this.#delivery;
    tellBreaker(this.#parts, delivery, slot.ended(endOf(made)));
    if (delivery.isNotice) return;
    if (made?.kind === 'delivered') health.succeeded({ delivery, endpoint });
    else if (made?.kind === 'retryable') health.failed({ delivery, endpoint, failure: made });
  }

  #resultOf(webhook: Webhook, made: AttemptResult | null, { isFailing }: Acquired, by: OffBy | null): StepResult {
    if (made === null) return NOT_PREPARED;
    if (made.kind === 'interrupted') return { kind: 'deferred', why: INTERRUPTED_BY[made.by], pausedMs: 0, turnMs: 0 };
    const attempt = this.#logged(webhook, made);
    if (by) return { kind: 'switched-off', by, attempt };
    if (made.kind === 'delivered') return { kind: 'delivered', attempt };
    return {
      kind: 'failed',
      attempt,
      retryAfterMs: made.retryAfterMs,
      isFailing: isFailing || this.#notedSince(webhook.endpoint) !== null,
    };
  }

  #logged({ version }: Webhook, made: AttemptResult): LoggedAttempt {
    const { at, response } = made;
    const { accountId, id } = this.#delivery;
    const place = () => responsePlace(accountId, id, new Date(at).toISOString());
    // A receiver may echo the headers of its request, which are secrets.
    const sealed = response === undefined ? undefined : this.#parts.sealing.seal(response, place());
    return loggedAttempt(made, version, this.#delivery, sealed);
  }

  /** @param to the endpoint, null if none is known; the attempt's result, null if there was none */
  async #settle(result: StepResult, to: { endpoint: string | null; made: AttemptResult | null }): Promise<boolean> {
    const { schedule, tiers, timeoutMs, random, now, monotonicNow } = this.#parts;
    const inHandMs = monotonicNow() - this.#takenAt;
    const delivery = this.#delivery;
    const { endpoint, made } = to;
    const failingSince = endpoint === null ? null : this.#notedSince(endpoint);
    const step = nextStep(delivery, result, { schedule, tiers, failingSince, timeoutMs, inHandMs, now: now(), random });
    tellStep(this.#parts, delivery, { result, made, step });
    const { isNotice } = delivery;
    if (step.kept && !(isNotice && step.kept.kind === 'letter')) await this.#keep(step, step.kept, endpoint ?? '');
    if (step.isTold && !isNotice) await this.#log(step);
    return step.outcome !== 'retrying' || step.delivery.attempts > delivery.attempts;
  }

  #keep({ delivery, attempt }: NextStep, kept: NonNullable<NextStep['kept']>, url: string): Promise<void> {
    const { bundles, topics } = this.#parts;
    if (kept.kind === 'letter')
      return publishUntilDurable(this.#parts, topics.deadLetters, deadLetterOf(delivery, kept));
    const { due, moreMs, tier } = kept;
    const endpoint = endpointKey(delivery.accountId, url);
    const place = { topic: tier.topic, endpoint, wait: { due, moreMs }, isUrgent: this.#isUrgent };
    // An attempt costs far more than its record, and its time is promised.
    return attempt ? bundles.write(place, toMember(delivery)) : bundles.gather(place, toMember(delivery));
  }

  #log({ delivery, outcome, attempt, kept, endedBy }: NextStep): Promise<void> {
    const isHeld = attempt === null && kept?.kind === 'letter' && kept.reason === 'deactivated';
    const entry = logEntry(delivery, outcome, attempt, kept?.kind === 'retry' ? kept.due + kept.moreMs : null);
    return this.#parts.log.add(
      'deliveries',
      isHeld || endedBy ? { ...entry, held: isHeld || undefined, endedBy } : entry,
    );
  }
}

const NOT_PREPARED = { kind: 'deferred', why: 'not-prepared', pausedMs: 0, turnMs: 0 } as const;
const NOWHERE = { endpoint: null, made: null };
const INTERRUPTED_BY = { stop: 'stopping', shortage: 'not-prepared' } as const;
const NOTHING = Buffer.alloc(0);
