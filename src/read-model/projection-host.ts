/**
 * Runs the projections in this process: subscription -> fold -> states, keys and position in one transaction.
 *
 *   starting -> catching up -> live -> closed
 *       ^            |           |
 *       |            |           +-> lost: the states are damaged, the store is another history or refuses us
 *       +- failed <--+-----------+   (store gone, disk full, subscription silent: resumes from the last commit)
 *
 * States of another history are never handed out as those of this one: payment events would miss webhooks. The host is then
 * lost, the process ends, and its next start explains how to accept the store.
 * A stream that cannot be read is set aside, in the same transaction as everything else; the others go on (quarantine.ts).
 */
import type { Logger } from '../observability/logger.js';
import type { EventBatch, EventStore } from '../ports/event-store.js';
import { OtherHistory, StoreRefused, StoreUnavailable } from '../ports/event-store.js';
import { type ProjectionStates, StatesDamaged } from '../ports/projection-states.js';
import { forEachInSlices } from '../time/in-slices.js';
import { sleep } from '../time/retry.js';
import { AccountStates } from './account-states.js';
import { HeadWatch } from './head-watch.js';
import type { Projection } from './projection-source.js';
import { type Committed, ProjectionStore } from './projection-store.js';
import { Quarantine } from './quarantine.js';

const RETRY_AFTER_MS = 500;
/**
 * One commit during catch-up: a state that changes in many batches is copied and stored once. Measured, side by side: 75,900
 * events a second with a commit every 5,000, 92,200 with this.
 */
const EVENTS_A_COMMIT = 10_000;
/** They stay in memory until then, and are written in one turn of the event loop. */
const STATES_A_COMMIT = 2_000;
/** The shortest time between commits of a position that moved without an event. */
const COMMIT_POSITION_EVERY_MS = 5_000;
const FORGET_KEYS_EVERY_MS = 60_000;

export interface ProjectionHostParts<S> {
  readonly projection: Projection;
  readonly store: EventStore;
  readonly states: ProjectionStates;
  readonly logger: Logger;
  /** ms, monotonic. */
  readonly now: () => number;
  /** ms since the epoch. */
  readonly time: () => number;
  /** Called with how long an own append was ahead of the read model, in ms. */
  readonly onReached?: (ms: number) => void;
  readonly askHeadEveryMs?: number;
  /** Called with what was committed. */
  readonly onCommitted?: (committed: Committed<S>) => void;
}

/** out-of-reach: the store is unavailable, or the file of the states. */
type Contact =
  | { readonly kind: 'starting' | 'catching-up' | 'out-of-reach'; readonly why: string }
  | { readonly kind: 'live'; readonly why: null };

export type ProjectionProgress = Contact & {
  readonly events: number;
  /** ms since it last had all events of the store; 0 while it follows. */
  readonly behindMs: number;
};

export class ProjectionHost<S> {
  /** Start it before the host: it also finds out whether the store answers. */
  readonly head: HeadWatch;
  /** For those who read the states, and those who add to them. */
  readonly known: AccountStates<S>;
  readonly #parts: ProjectionHostParts<S>;
  readonly #folded: ProjectionStore<S>;
  readonly #quarantine: Quarantine<S>;
  readonly #stopping = new AbortController();
  #connection = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #history = '';
  #wasLive = false;
  #contact: Contact = { kind: 'starting', why: 'the event store has not answered yet' };
  #events = 0;
  /** By `now`, and how many events it had folded then; initially its start. */
  #lastLive = { at: 0, events: 0 };
  #committedAt = 0;
  #keysForgottenAt = 0;
  #reachEnd: () => void = () => undefined;
  #reject: (error: Error) => void = () => undefined;

  /** Fulfilled once everything stored when the host started is folded. */
  readonly caughtUp = new Promise<void>((fulfil) => {
    this.#reachEnd = fulfil;
  });

  /** Rejected if its states are unusable: the process must end. */
  readonly lost = new Promise<never>((_, reject) => {
    this.#reject = reject;
  });

  constructor(parts: ProjectionHostParts<S>) {
    const { projection, store, states, logger, now, time, onReached = () => undefined } = parts;
    this.#parts = parts;
    const lose = (error: Error) => this.#lose(error);
    this.#folded = new ProjectionStore(projection, states, time, lose);
    const commit = () => {
      if (!this.#stopping.signal.aborted) this.#commit();
    };
    this.#quarantine = new Quarantine({ projection, folded: this.#folded, store, logger, commit });
    const own = { projection, stored: this.#folded, quarantine: this.#quarantine };
    this.known = new AccountStates({ ...own, store, now, onReached, onOtherHistory: lose });
    const onPassed = (askedAt: number) => void this.known.mustHaveShown(askedAt).catch(() => undefined);
    const onStalled = () => {
      logger.warn('the subscription stalled while the event store has more events: subscribing again');
      this.#connection.abort();
    };
    this.head = new HeadWatch({ store, logger, now, onPassed, onStalled, everyMs: parts.askHeadEveryMs });
    this.lost.catch(() => undefined);
  }

  /** @param history the identity of the event store; states of another one are deleted */
  start(history: string): void {
    this.#history = history;
    this.#catchUpBegins();
    this.#running = this.#run();
    void this.#quarantine.retryEachMinute(this.#stopping.signal);
  }

  get progress(): ProjectionProgress {
    const behindMs = this.#isLive ? this.head.behindMs : this.#parts.now() - this.#lastLive.at;
    return { ...this.#contact, events: this.#events, behindMs };
  }

  get #isLive(): boolean {
    return this.#contact.kind === 'live';
  }

  /**
   * Fulfilled once the states have everything the store had at the time of the call.
   * @throws StoreUnavailable; OtherHistory if this process knows an event that the store lost
   */
  async passHead(signal: AbortSignal): Promise<void> {
    const askedAt = this.#parts.now();
    await this.head.pass(signal);
    await this.known.mustHaveShown(askedAt);
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    if (this.#isLive) this.#commit();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      this.#connection = new AbortController();
      await this.#follow(AbortSignal.any([signal, this.#connection.signal])).catch((error) => this.#recover(error));
      if (signal.aborted) return;
      if (this.#isLive) this.#outOfReach(new StoreUnavailable('the subscription ended'));
      await sleep(RETRY_AFTER_MS, signal);
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { store, projection } = this.#parts;
    const after = this.#folded.open(this.#history);
    if (!this.#wasLive) await this.#quarantine.retryAll();
    const onDropped = (error: Error) => this.#outOfReach(error);
    for await (const batch of store.subscribe({ after, streamPrefix: projection.streamPrefix, signal, onDropped })) {
      await this.#apply(batch);
    }
  }

  async #apply({ events, position, caughtUp, reshaped = [] }: EventBatch): Promise<void> {
    for (const stream of new Set(reshaped)) this.#quarantine.examine(stream).catch(() => undefined);
    // An account may be large enough for each of its events to take milliseconds.
    if (events.length > 1) await forEachInSlices(events, (event) => this.#folded.fold([event], event.position));
    this.#folded.fold(events.length > 1 ? [] : events, position);
    this.#events += events.length;
    if (this.#isWorthACommit(events.length, caughtUp)) this.#commit();
    if (!this.#isLive && caughtUp) this.#becomeLive();
    if (!this.#isLive) {
      this.#contact = { kind: 'catching-up', why: `folded ${this.#events} events, and there are more` };
    } else if (this.#folded.uncommitted.events === 0) this.head.moved(position);
  }

  #isWorthACommit(events: number, caughtUp: boolean): boolean {
    const { uncommitted } = this.#folded;
    const isEnough = uncommitted.events >= EVENTS_A_COMMIT || uncommitted.states >= STATES_A_COMMIT;
    const isLate = this.#parts.now() - this.#committedAt >= COMMIT_POSITION_EVERY_MS;
    return caughtUp || isEnough || isLate || (this.#isLive && events > 0);
  }

  #commit(): void {
    const committed = this.#folded.commit();
    this.known.committed(committed);
    this.#parts.onCommitted?.(committed);
    this.#quarantine.log(committed.setAside);
    this.#committedAt = this.#parts.now();
    if (this.#committedAt - this.#keysForgottenAt < FORGET_KEYS_EVERY_MS) return;
    this.#keysForgottenAt = this.#committedAt;
    this.#folded.forgetKeys();
  }

  #becomeLive(): void {
    const { projection, logger, now } = this.#parts;
    const { at, events } = this.#lastLive;
    const about = { projection: projection.name, events: this.#events - events, ms: now() - at };
    // Later ones are many, and short, on a busy machine.
    logger[this.#wasLive ? 'debug' : 'info'](about, 'the projection has caught up');
    this.#wasLive = true;
    this.#contact = { kind: 'live', why: null };
    this.#reachEnd();
    // Meanwhile the store may have been restored, and lack events that this process appended.
    this.passHead(this.#stopping.signal).catch(() => undefined);
  }

  /** At the start, and whenever the store is out of reach. */
  #catchUpBegins(): void {
    this.#lastLive = { at: this.#parts.now(), events: this.#events };
  }

  /** The states may be behind the store until the next caught-up mark. */
  #outOfReach(error: unknown): void {
    if (this.#isLive) this.#catchUpBegins();
    this.head.disconnected();
    this.#contact = { kind: 'out-of-reach', why: error instanceof Error ? error.message : String(error) };
  }

  #recover(error: unknown): void {
    this.#outOfReach(error);
    if (error instanceof OtherHistory || error instanceof StoreRefused) this.#lose(error);
    // HeadWatch logs an outage of the store once.
    if (error instanceof StoreUnavailable || error instanceof OtherHistory || error instanceof StatesDamaged) return;
    this.#parts.logger.error({ err: error }, 'the projection stopped; resuming from its last commit');
  }

  #lose(error: Error): void {
    this.#reject(error);
    this.#stopping.abort();
  }
}
