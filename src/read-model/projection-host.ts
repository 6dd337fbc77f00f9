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
import {
  type EventBatch,
  type EventStore,
  OtherHistory,
  StoreRefused,
  StoreUnavailable,
} from '../ports/event-store.js';
import { type ProjectionStates, StatesDamaged } from '../ports/projection-states.js';
import { sleep } from '../time/retry.js';
import { AccountStates } from './account-states.js';
import { CatchUpProgress } from './catch-up-progress.js';
import { HeadWatch } from './head-watch.js';
import type { Projection } from './projection-source.js';
import { ProjectionStore } from './projection-store.js';
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

export interface ProjectionHostParts {
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
}

/** out-of-reach: the store is unavailable, or the file of the states. */
type Contact =
  | { readonly kind: 'starting' | 'catching-up' | 'out-of-reach'; readonly why: string }
  | { readonly kind: 'live'; readonly why: null };

export type ProjectionProgress = Contact & {
  /** Folded by this process. */
  readonly events: number;
  /** ms since it last had all events of the store; 0 while it follows. */
  readonly behindMs: number;
};

export class ProjectionHost<S> {
  /** Start it before the host: it also finds out whether the store answers. */
  readonly head: HeadWatch;
  /** For those who read the states, and those who add to them. */
  readonly known: AccountStates<S>;
  readonly #parts: ProjectionHostParts;
  readonly #folded: ProjectionStore<S>;
  readonly #progress: CatchUpProgress;
  readonly #quarantine: Quarantine<S>;
  readonly #stopping = new AbortController();
  readonly #caughtUp = withResolvers<void>();
  readonly #lost = withResolvers<never>();
  #connection = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #history = '';
  #live = false;
  #isQuarantineTried = false;
  #contact: Contact = { kind: 'starting', why: 'the event store has not answered yet' };
  #events = 0;
  /** By `now`; initially its start. */
  #lastLive = 0;
  #committedAt = 0;
  #keysForgottenAt = 0;

  constructor(parts: ProjectionHostParts) {
    const { projection, store, states, logger, now, time, onReached = () => undefined } = parts;
    this.#parts = parts;
    this.#folded = new ProjectionStore(projection, states, time, (error) => this.#lose(error));
    const commit = () => {
      if (!this.#stopping.signal.aborted) this.#commit();
    };
    this.#quarantine = new Quarantine({ projection, folded: this.#folded, store, logger, commit });
    const onOtherHistory = (error: OtherHistory) => this.#lose(error);
    const own = { projection, stored: this.#folded, quarantine: this.#quarantine };
    this.known = new AccountStates({ ...own, store, now, onReached, onOtherHistory });
    this.#progress = new CatchUpProgress(projection.name, logger, now);
    const onPassed = (askedAt: number) => void this.known.mustHaveShown(askedAt).catch(() => undefined);
    const onStalled = () => {
      logger.warn('the subscription stalled while the event store has more events: subscribing again');
      this.#connection.abort();
    };
    this.head = new HeadWatch({ store, logger, now, onPassed, onStalled, everyMs: parts.askHeadEveryMs });
    this.#lost.promise.catch(() => undefined);
  }

  /** @param history the identity of the event store; states of another one are deleted */
  start(history: string): void {
    this.#history = history;
    this.#progress.start();
    this.#lastLive = this.#parts.now();
    this.#running = this.#run();
    void this.#quarantine.retryEachMinute(this.#stopping.signal);
  }

  /** Fulfilled once everything stored when the host started is folded. */
  get caughtUp(): Promise<void> {
    return this.#caughtUp.promise;
  }

  /** Rejected if its states are unusable: the process must end. */
  get lost(): Promise<never> {
    return this.#lost.promise;
  }

  /** Its progress relative to the store. */
  get progress(): ProjectionProgress {
    return { ...this.#contact, events: this.#events, behindMs: this.#behindMs() };
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
    if (this.#live) this.#commit();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      this.#connection = new AbortController();
      await this.#follow(AbortSignal.any([signal, this.#connection.signal])).catch((error) => this.#recover(error));
      if (signal.aborted) return;
      if (this.#live) this.#outOfReach(new StoreUnavailable('the subscription ended'));
      await sleep(RETRY_AFTER_MS, signal);
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { store, projection } = this.#parts;
    const after = this.#folded.open(this.#history);
    if (!this.#isQuarantineTried) await this.#quarantine.retryAll();
    const onDropped = (error: Error) => this.#outOfReach(error);
    for await (const batch of store.subscribe({ after, streamPrefix: projection.streamPrefix, signal, onDropped })) {
      this.#apply(batch);
    }
  }

  #apply({ events, position, caughtUp, reshaped = [] }: EventBatch): void {
    for (const stream of new Set(reshaped)) void this.#quarantine.examineLater(stream);
    this.#folded.fold(events, position);
    this.#events += events.length;
    if (this.#isWorthACommit(events.length, caughtUp)) this.#commit();
    if (!this.#live && caughtUp) this.#becomeLive();
    if (!this.#live) {
      this.#contact = { kind: 'catching-up', why: `folded ${this.#events} events, and there are more` };
      this.#progress.catchingUp();
    } else if (this.#folded.uncommitted.events === 0) this.head.moved(position);
  }

  #isWorthACommit(events: number, caughtUp: boolean): boolean {
    const { uncommitted } = this.#folded;
    const isEnough = uncommitted.events >= EVENTS_A_COMMIT || uncommitted.states >= STATES_A_COMMIT;
    const isLate = this.#parts.now() - this.#committedAt >= COMMIT_POSITION_EVERY_MS;
    return caughtUp || isEnough || (this.#live ? events > 0 || isLate : isLate);
  }

  #commit(): void {
    const { events } = this.#folded.uncommitted;
    const committed = this.#folded.commit();
    this.known.committed(committed);
    this.#quarantine.log(committed.setAside);
    this.#committedAt = this.#parts.now();
    this.#progress.folded(events);
    if (this.#committedAt - this.#keysForgottenAt < FORGET_KEYS_EVERY_MS) return;
    this.#keysForgottenAt = this.#committedAt;
    this.#folded.forgetKeys();
  }

  #becomeLive(): void {
    this.#live = true;
    this.#isQuarantineTried = true;
    this.#contact = { kind: 'live', why: null };
    this.#caughtUp.resolve();
    this.#progress.caughtUp();
    // Meanwhile the store may have been restored, and lack events that this process appended.
    this.passHead(this.#stopping.signal).catch(() => undefined);
  }

  #behindMs(): number {
    return this.#live ? this.head.behindMs : this.#parts.now() - this.#lastLive;
  }

  /** The states may be behind the store until the next caught-up mark. */
  #outOfReach(error: unknown): void {
    if (this.#live) {
      this.#lastLive = this.#parts.now();
      this.#progress.start();
    }
    this.head.disconnected();
    this.#live = false;
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
    this.#lost.reject(error);
    this.#stopping.abort();
  }
}

/** Promise.withResolvers exists since Node 22. */
function withResolvers<T>() {
  let resolve: (value: T) => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<T>((fulfil, refuse) => {
    resolve = fulfil;
    reject = refuse;
  });
  return { promise, resolve, reject };
}
