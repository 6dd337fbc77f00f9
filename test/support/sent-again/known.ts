/** What happened in a world, as nobody in it knows it, and which of the promises it breaks while it happens. */
import type { Finding, Report } from '../../../src/audit/report.js';
import { requestIn } from '../../../src/delivery/again/request.js';
import type { Requests } from '../../../src/delivery/again/requests.js';
import type { AttemptResult } from '../../../src/delivery/attempt/attempt.js';
import { type Delivery, deliveryIn, webhookMessageId } from '../../../src/delivery/delivery.js';
import type { DeliveryLogEntry, RoutedEntry } from '../../../src/delivery/log/log-record.js';
import { paymentText, placeOf } from '../../../src/delivery/record-place.js';
import { parsePaymentEvent } from '../../../src/payments/payment-event.js';
import type { ReceivedRecord } from '../../../src/ports/broker.js';
import type { DeliveryDetail } from '../../../src/ports/deliveries-view.js';
import type { SentAgain } from '../../../src/ports/send-again.js';
import { ACCOUNT } from '../delivery-samples.js';
import type { Process } from './kernel.js';
import { SCHEDULE, TOPICS } from './settings.js';
import { FIRST_PAGE_MS, FOLLOW_MS } from './sim-broker.js';
import { Rows } from './sim-view.js';
import type { World } from './world.js';

export interface Violation {
  /** I1 lost, I2 hidden, I3 after a request, I4 too many, I5 recovery, I6 views, I7 audit, I8 replay, I9 memory. */
  readonly invariant: `I${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9}`;
  readonly why: string;
  /** ms since the world began. */
  readonly at: number;
}

/** refused: by 503 with Retry-After, which may use no step. */
export type Ending = AttemptResult['kind'] | 'refused';

export interface Made {
  readonly key: string;
  readonly chain: number;
  readonly at: number;
  end: Ending | null;
}

interface Running {
  readonly requests: Requests;
  readonly startedAt: number;
  /** Null: not yet. */
  hasReadAt: number | null;
}

export interface RecoveryKnown {
  readonly webhookIds: readonly number[];
  readonly startedAt: number;
  /** What had been given up when it started. */
  readonly due: readonly DeliveryDetail[];
}

/** A recovery's request. */
export interface Asked {
  readonly recovery: string;
  readonly key: string;
  readonly by: Process;
  readonly at: number;
  /** Whether nothing was requested: it waits, or passes the delivery by. */
  readonly isRefused: () => boolean;
}

export class Known {
  readonly #world: World;
  readonly violations: Violation[] = [];
  readonly attempts: Made[] = [];
  readonly disturbances: { readonly at: number; readonly by: Process }[] = [];
  readonly recoveries = new Map<string, RecoveryKnown>();
  readonly asked: Asked[] = [];
  readonly #dispatchers = new Map<Process, Running>();
  /** By delivery and chain: how many attempts more may follow from records that were handed out again. */
  readonly again = new Map<string, number>();
  /** Steps that were attempted, with the life of the process that did. */
  readonly #taken = new Set<string>();
  audits = 0;

  constructor(world: World) {
    this.#world = world;
  }

  violated(invariant: Violation['invariant'], why: string): void {
    const { kernel } = this.#world;
    if (this.violations.some((known) => known.invariant === invariant && known.why === why)) return;
    this.violations.push({ invariant, why, at: kernel.now - kernel.begunAt });
    kernel.say('!!', invariant, why);
  }

  /** All that both topics have. */
  rows(): Rows {
    const rows = new Rows(this.#world.said);
    for (const topic of ['requests', 'deliveries'] as const) {
      for (const record of this.#world.topics.all(TOPICS[topic])) rows.add(topic, record);
    }
    return rows;
  }

  disturbed(by: Process): void {
    this.disturbances.push({ at: this.#world.kernel.now, by });
  }

  /** Where its partition moved, each attempt that follows may be made once more: the copies meet in one process only. */
  handedOutAgain(record: ReceivedRecord): void {
    const request = record.topic === TOPICS.requests ? requestIn(record) : null;
    const { chain = 0, step = 0 } = request?.delivery ?? deliveryIn(record) ?? {};
    for (const key of this.#keysOf(record)) {
      const of = `${key} ${chain}`;
      this.again.set(of, (this.again.get(of) ?? 0) + SCHEDULE.length + 1 - step);
    }
  }

  #keysOf(record: ReceivedRecord): string[] {
    if (record.topic !== 'payments') {
      const delivery = deliveryIn(record);
      return delivery ? [`${delivery.id} ${delivery.payment}`] : [];
    }
    const parsed = parsePaymentEvent(record);
    const eventId = parsed.ok ? parsed.event.id : '';
    const idOf = (webhookId: number) => webhookMessageId(ACCOUNT, { eventId, eventSource: null }, webhookId);
    return this.#world.webhookIds.map((id) => `${idOf(id)} ${paymentText(placeOf(record))}`);
  }

  dispatcherStarts(one: Process, requests: Requests): void {
    this.#dispatchers.set(one, { requests, startedAt: this.#world.kernel.now, hasReadAt: null });
  }

  dispatcherHasRead(one: Process): void {
    const running = this.#dispatchers.get(one);
    if (running) running.hasReadAt = this.#world.kernel.now;
  }

  /** How many chains it knows, of all that were requested. */
  remembered(one: Process): number {
    const running = this.#dispatchers.get(one);
    const keys = new Set(
      this.#world
        .requests()
        .flatMap(({ request: { delivery, places } }) =>
          places.map((payment) => JSON.stringify([delivery.id, payment])),
        ),
    );
    return [...keys].filter((key) => {
      const [id, payment] = JSON.parse(key) as [string, string];
      return running?.requests.laterChain({ id, payment, chain: -1 });
    }).length;
  }

  stepBegins(one: Process, delivery: Delivery, requests: Requests) {
    const { kernel } = this.#world;
    const takenAt = kernel.now;
    const key = `${delivery.id} ${delivery.payment}`;
    const about = `${key} chain ${delivery.chain}`;
    let isAttempted = false;
    let askedAt = 0;
    return {
      /** @returns the later chain that the dispatcher is told */
      asks: (later: number | null) => {
        if (later === null) askedAt = kernel.now;
        return later;
      },
      /** Its first publication follows its decision. */
      publishes: () => {
        const later = isAttempted ? null : requests.laterChain(delivery);
        if (later !== null)
          this.violated('I3', `deferred or ended though ${one.name} knows of chain ${later}: ${about}`);
        isAttempted = true;
      },
      attempts: () => {
        isAttempted = true;
        kernel.say(one.name, 'attempt', about, 'attempts', delivery.attempts, 'step', delivery.step);
        this.#mustBeLast(one, delivery, askedAt);
        this.#mustBeOnce(one, delivery);
        const made: Made = { key, chain: delivery.chain, at: kernel.now, end: null };
        this.attempts.push(made);
        return (end: Ending) => {
          made.end = end;
          kernel.say(one.name, end, about);
        };
      },
      says: (entry: DeliveryLogEntry | RoutedEntry) => {
        if (!('outcome' in entry)) return;
        kernel.say(one.name, entry.held ? 'held' : entry.outcome, about, 'attempts', entry.attempts);
        if (entry.attempt || !(entry.outcome === 'cancelled' || entry.held)) return;
        if (!this.#world.account.wasActiveSince(takenAt, delivery.webhookId)) return;
        this.violated('I1', `${entry.outcome} though its webhook was active since it was taken: ${about}`);
      },
    };
  }

  /** Of a record of a tier or a request; whose payment is handed out again is sent again. */
  #mustBeOnce({ name, incarnation }: Process, { id, payment, chain, attempts }: Delivery): void {
    const step = `${id} ${payment} chain ${chain} attempts ${attempts}, by ${name} ${incarnation}`;
    if (chain + attempts > 0 && this.#taken.has(step)) this.violated('I4', `taken twice: ${step}`);
    this.#taken.add(step);
  }

  /** Nothing that was requested before, but what this dispatcher could not have read. */
  #mustBeLast(one: Process, { id, payment, chain }: Delivery, askedAt: number): void {
    const { mostRemembered, kernel } = this.#world;
    const running = this.#dispatchers.get(one);
    if (mostRemembered !== undefined || !running || payment === null) return;
    const { requests, startedAt, hasReadAt } = running;
    const known = requests.laterChain({ id, payment, chain });
    // It began when it asked: what is read in the same moment comes later.
    if (known !== null && askedAt !== kernel.now)
      this.violated('I3', `attempted though ${one.name} knows of chain ${known}: ${id} ${payment} ${chain}`);
    for (const { request, at } of this.#world.requests()) {
      const isLater = request.delivery.id === id && request.places.includes(payment) && request.delivery.chain > chain;
      const follows = (hasReadAt ?? kernel.now) + FIRST_PAGE_MS;
      const couldRead = at < startedAt ? startedAt : Math.max(at, follows) + FOLLOW_MS;
      if (!isLater || kernel.now <= couldRead || one.stoodStillSince(at)) continue;
      const late = kernel.now - at;
      this.violated(
        'I3',
        `attempted ${late} ms after chain ${request.delivery.chain}: ${id} ${payment} chain ${chain}`,
      );
    }
  }

  recoveryStarts(recovery: string, webhookIds: readonly number[]): void {
    const due = this.rows()
      .details()
      .filter(({ webhookId, outcome }) => webhookIds.includes(webhookId) && outcome === 'exhausted');
    this.recoveries.set(recovery, { webhookIds, startedAt: this.#world.kernel.now, due });
  }

  /** @returns to be called with what became of it */
  recoveryAsks(
    recovery: string,
    by: Process,
    { id, payment }: Pick<DeliveryDetail, 'id' | 'payment'>,
  ): (sent: SentAgain) => void {
    const key = `${id} ${payment}`;
    let isRefused = false;
    this.#world.kernel.say(by.name, recovery, 'asks for', key);
    this.asked.push({ recovery, key, by, at: this.#world.kernel.now, isRefused: () => isRefused });
    return (sent) => {
      isRefused = sent.kind !== 'requested';
    };
  }

  requestedWithin(id: string, payment: string | null, from: number, to: number): boolean {
    return this.#world.requests().some(({ request: { delivery, places }, at }) => {
      return delivery.id === id && places.includes(payment ?? '') && at >= from && at <= to;
    });
  }

  audited(when: string, report: Report): void {
    this.audits += 1;
    for (const open of report.found('unanswered')) {
      if (!this.#isGivenUpRouting(open)) this.violated('I7', `unanswered ${when}: ${JSON.stringify(open)}`);
    }
    if (report.counts.unexpected > 0) this.violated('I7', `unexpected ${when}`);
    for (const { topic, why } of report.lost) this.violated('I7', `lost ${when}: ${topic} ${why}`);
  }

  /**
   * docs/decisions/0009: where a payment was handed out again, and the account had switched the webhook off meanwhile, the first
   * entry names a webhook that got no delivery.
   */
  #isGivenUpRouting({ id, source, webhookId }: Finding): boolean {
    const isAgain = [...this.again.keys()].some((key) => key.startsWith(`${id} ${source}@`));
    const isOff = this.#world.account.events.some(({ type, data }) => {
      const isByAccount = type === 'WebhookRemoved' || (type === 'WebhookDeactivated' && data.by !== 'service');
      return isByAccount && data.webhookId === webhookId;
    });
    return isAgain && isOff;
  }
}
