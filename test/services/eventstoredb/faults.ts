/** What a test server does wrong, on demand and at run time. */
import { EventEmitter, once } from 'node:events';
import { type StatusObject, status } from '@grpc/grpc-js';

/** What is done with a connection: by reset, as the kernel of a killed server does. */
export type CutConnection = 'before-stored' | 'after-stored';
export type Call = 'append' | 'read' | 'subscribe' | 'gossip';

/** A subscription that runs; without an error it ends cleanly. */
export type EndSubscription = (error?: Partial<StatusObject>) => void;

export class Faults {
  readonly #silent = new Set<Call>();
  readonly #subscriptions = new Set<EndSubscription>();
  readonly #changed: () => void;
  readonly #freeze: (on: boolean) => void;
  readonly #thaws = new EventEmitter().setMaxListeners(0);
  #cuts: CutConnection[] = [];
  #notReady = false;
  #refusing = false;
  #slowMs = 0;
  #projectionsHeld = false;
  #behinds = 0;
  #frozen = false;

  /**
   * @param changed is called when projections may go on
   * @param freeze stops and goes on with reading what clients send
   */
  constructor(changed: () => void, freeze: (on: boolean) => void) {
    this.#changed = changed;
    this.#freeze = freeze;
  }

  /** As a process that was sent SIGSTOP: connections are accepted and kept, and nothing is answered, no ping either. */
  freeze(): void {
    this.#frozen = true;
    this.#freeze(true);
  }

  /** As SIGCONT: what was sent meanwhile is read now. */
  thaw(): void {
    this.#frozen = false;
    this.#freeze(false);
    this.#thaws.emit('thaw');
  }

  /** Accepts such calls, and never answers; nothing is stored. */
  silent(...calls: Call[]): void {
    for (const call of calls) this.#silent.add(call);
  }

  /** The connection of the next append, or of the next few, breaks: before it is stored, or stored but not answered. */
  cutConnection(when: CutConnection, times = 1): void {
    this.#cuts.push(...Array<CutConnection>(times).fill(when));
  }

  /** As while the server starts. */
  notReady(on = true): void {
    this.#notReady = on;
  }

  /** Before each message of reads and subscriptions. */
  slowReads(ms: number): void {
    this.#slowMs = ms;
  }

  /** UNAUTHENTICATED to every call that begins: not to those that run, as a client's one BatchAppend does. */
  refuseCredentials(on = true): void {
    this.#refusing = on;
  }

  /** Projections see no new events until it is released; after a start their states are {} as long. */
  holdProjections(on = true): void {
    this.#projectionsHeld = on;
    this.#changed();
  }

  endSubscriptionsCleanly(): void {
    for (const end of [...this.#subscriptions]) end();
  }

  /** UNAVAILABLE and CANCELLED make the client throw its channel away; the others don't. */
  dropSubscriptions(code: status = status.UNKNOWN): void {
    for (const end of [...this.#subscriptions])
      end({ code, details: 'Unexpected SubscriptionDropReason: ConsumerTooSlow' });
  }

  /** Live subscriptions were too slow: from the next record on they read from the log again, and catch up. */
  fallBehind(): void {
    this.#behinds += 1;
  }

  /** For the server: how often. */
  get behinds(): number {
    return this.#behinds;
  }

  /** Nothing is wrong any more; calls that were met with silence stay without an answer. */
  clear(): void {
    this.#silent.clear();
    this.#cuts = [];
    this.#notReady = false;
    this.#refusing = false;
    this.#slowMs = 0;
    this.thaw();
    this.holdProjections(false);
  }

  /** How many subscriptions run. */
  get subscriptions(): number {
    return this.#subscriptions.size;
  }

  get isFrozen(): boolean {
    return this.#frozen;
  }

  /** For the server: at once where it is not frozen. */
  async thawed(signal: AbortSignal): Promise<void> {
    while (this.#frozen) await once(this.#thaws, 'thaw', { signal });
  }

  get isNotReady(): boolean {
    return this.#notReady;
  }

  get isRefusing(): boolean {
    return this.#refusing;
  }

  get slowMs(): number {
    return this.#slowMs;
  }

  get areProjectionsHeld(): boolean {
    return this.#projectionsHeld;
  }

  isSilent(call: Call): boolean {
    return this.#silent.has(call);
  }

  /** For the server: what happens to the connection of this append. */
  takeCut(): CutConnection | undefined {
    return this.#cuts.shift();
  }

  /** For the server. @returns what takes it off the list */
  running(end: EndSubscription): () => void {
    this.#subscriptions.add(end);
    return () => this.#subscriptions.delete(end);
  }
}
