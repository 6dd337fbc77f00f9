/** What a test server does wrong, on demand and at run time. */
import { type StatusObject, status } from '@grpc/grpc-js';

/** What is done with a connection: by reset, as the kernel of a killed server does. */
export type CutConnection = 'before-stored' | 'after-stored';
export type Call = 'append' | 'read' | 'subscribe' | 'gossip';

/** A subscription that runs; without an error it ends cleanly. */
export type EndSubscription = (error?: Partial<StatusObject>) => void;

/** Methods are for tests, fields for the server. */
export class Faults {
  readonly silentCalls = new Set<Call>();
  /** Those that run. */
  readonly running = new Set<EndSubscription>();
  /** Of the appends to come. */
  cuts: CutConnection[] = [];
  isNotReady = false;
  areProjectionsHeld = false;
  /** How often live subscriptions fell behind. */
  behinds = 0;
  readonly #changed: () => void;

  /** @param changed is called when projections may go on */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** Accepts such calls, and never answers; nothing is stored. */
  silent(...calls: Call[]): void {
    for (const call of calls) this.silentCalls.add(call);
  }

  /** The connection of the next append breaks: before it is stored, or stored but not answered. */
  cutConnection(when: CutConnection): void {
    this.cuts.push(when);
  }

  /** As while the server starts. */
  notReady(): void {
    this.isNotReady = true;
  }

  /** Projections see no new events until it is released; after a start their states are {} as long. */
  holdProjections(on = true): void {
    this.areProjectionsHeld = on;
    this.#changed();
  }

  endSubscriptionsCleanly(): void {
    for (const end of [...this.running]) end();
  }

  /** UNAVAILABLE and CANCELLED make the client throw its channel away; UNKNOWN doesn't. */
  dropSubscriptions(): void {
    const details = 'Unexpected SubscriptionDropReason: ConsumerTooSlow';
    for (const end of [...this.running]) end({ code: status.UNKNOWN, details });
  }

  /** Live subscriptions were too slow: from the next record on they read from the log again, and catch up. */
  fallBehind(): void {
    this.behinds += 1;
  }

  /** Nothing is wrong any more; calls that were met with silence stay without an answer. */
  clear(): void {
    this.silentCalls.clear();
    this.cuts = [];
    this.isNotReady = false;
    this.holdProjections(false);
  }
}
