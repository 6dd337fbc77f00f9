/**
 * A consumer of the embedded broker. Its topics are lanes, which take turns: each hands out its head where that is due,
 * until the limit is reached. A rejected record leaves its place under the limit to others while it pauses.
 *
 *   consumer: standing by -> working (the group's lock is held) -> stopping -> closed
 *   record:   head of its lane -> with the handler -> done
 *                                       ^   \-> pausing -> again -\
 *                                       \-------------------------/
 */
import type { ConsumeOptions, Consumer, ReceivedRecord } from '../../ports/broker.js';
import { GroupLock } from './group-lock.js';
import { Lane } from './lane.js';
import type { RecordLog } from './record-log.js';
import type { StoreFile } from './store-file.js';

/** Handed out in one turn of the event loop: what a handler does before its first await adds up. */
const MOST_A_TURN = 100;
/** They are held in memory; while there are as many, nothing new is begun. */
const MOST_REJECTED = 1_000;
const REMEMBER_EVERY_MS = 100;
const READ_AGAIN_MS = 500;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
/** A timer's longest, about 24 days; what is due later is looked at again then. */
const LONGEST_TIMER_MS = 2_147_483_647;

interface Taken {
  readonly lane: Lane;
  readonly record: ReceivedRecord;
  /** How long it waits if it is rejected this time. */
  readonly pauseMs: number;
}

export class SqliteConsumer implements Consumer {
  readonly closed: Promise<void>;
  readonly #options: ConsumeOptions;
  readonly #log: RecordLog;
  readonly #lock: GroupLock;
  readonly #unsubscribe: () => void;
  readonly #pausing = new Set<NodeJS.Timeout>();
  readonly #again: Taken[] = [];
  #lanes: Lane[] = [];
  #unsettled = 0;
  #stopped = false;
  #pumping = false;
  #turn: NodeJS.Immediate | null = null;
  #wake: NodeJS.Timeout | null = null;
  #remembering: NodeJS.Timeout | null = null;
  #settled: () => void = () => undefined;
  #closing: Promise<void> | null = null;
  #resolveClosed: () => void = () => undefined;

  constructor(store: StoreFile, log: RecordLog, options: ConsumeOptions) {
    this.#options = options;
    this.#log = log;
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
    this.#lock = new GroupLock(store.dataDir, options.group, () => this.#begin());
    this.#unsubscribe = store.onChange((touched) => this.#changed(touched));
  }

  /** @throws an error of fs or SQLite */
  start(): void {
    this.#lock.acquire();
  }

  stop(): void {
    this.#stopped = true;
    this.#unsubscribe();
    if (this.#wake) clearTimeout(this.#wake);
    if (this.#turn) clearImmediate(this.#turn);
    for (const timer of this.#pausing) clearTimeout(timer);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.stop();
    if (this.#unsettled > 0) {
      await new Promise<void>((resolve) => {
        this.#settled = resolve;
      });
    }
    if (this.#remembering) clearTimeout(this.#remembering);
    // What can't be remembered comes again: that is allowed, and all that can be done here.
    if (this.#lock.held) await this.#remember().catch(() => undefined);
    this.#lock.release();
    this.#resolveClosed();
  }

  #begin(): void {
    const { group, topics, notBefore = () => 0 } = this.#options;
    this.#lanes = [...new Set(topics)].map((topic) => new Lane(topic, this.#log, group, notBefore));
    this.#pumpNextTurn();
  }

  #changed(touched: ReadonlySet<string> | null): void {
    const changed = this.#lanes.filter(({ topic }) => !touched || touched.has(topic));
    for (const lane of changed) lane.published();
    if (changed.length > 0) this.#pump();
  }

  #pumpNextTurn(): void {
    this.#turn = setImmediate(() => {
      this.#turn = null;
      this.#pump();
    });
  }

  #pumpAfter(ms: number): void {
    if (this.#wake) clearTimeout(this.#wake);
    this.#wake = setTimeout(() => this.#pump(), Math.min(ms, LONGEST_TIMER_MS));
  }

  /** Hands out what is due while the limit allows: first what was rejected, then one of each lane in turn. */
  #pump(): void {
    // A handler may publish and so come back here before it has returned. The rest of a long line waits for its turn.
    if (this.#stopped || this.#pumping || this.#turn) return;
    this.#pumping = true;
    try {
      if (this.#handOut()) this.#pumpNextTurn();
      else this.#pumpWhenDue();
    } catch {
      if (!this.#stopped) this.#pumpAfter(READ_AGAIN_MS);
    } finally {
      this.#pumping = false;
    }
  }

  /** True where there may be more to hand out at once. */
  #handOut(): boolean {
    let handedOut = 0;
    for (let before = -1; before < handedOut && handedOut < MOST_A_TURN; ) {
      before = handedOut;
      if (this.#handOutAgain()) handedOut += 1;
      for (const lane of this.#lanes) if (this.#handOutHead(lane)) handedOut += 1;
    }
    return handedOut >= MOST_A_TURN && this.#hasRoom();
  }

  #hasRoom(): boolean {
    return !this.#stopped && this.#unsettled < this.#options.inFlight;
  }

  #mayBegin(): boolean {
    return this.#hasRoom() && this.#pausing.size + this.#again.length < MOST_REJECTED;
  }

  #handOutAgain(): boolean {
    if (!this.#hasRoom()) return false;
    const taken = this.#again.shift();
    if (taken) void this.#handle(taken);
    return taken !== undefined;
  }

  #handOutHead(lane: Lane): boolean {
    if (!this.#mayBegin()) return false;
    const head = lane.head();
    if (!head || head.due > Date.now()) return false;
    lane.takeHead();
    void this.#handle({ lane, record: head.record, pauseMs: FIRST_PAUSE_MS });
    return true;
  }

  #pumpWhenDue(): void {
    const due = Math.min(...this.#lanes.map((lane) => lane.headDue));
    if (Number.isFinite(due) && this.#mayBegin()) this.#pumpAfter(Math.max(1, due - Date.now()));
  }

  /** Never rejects. */
  async #handle(taken: Taken): Promise<void> {
    this.#unsettled += 1;
    const done = await this.#handled(taken.record);
    this.#unsettled -= 1;
    if (done) this.#done(taken);
    else if (!this.#stopped) this.#pause(taken);
    if (this.#unsettled === 0) this.#settled();
    this.#pump();
  }

  async #handled(record: ReceivedRecord): Promise<boolean> {
    try {
      await this.#options.handler(record);
      return true;
    } catch {
      return false;
    }
  }

  #done({ lane, record }: Taken): void {
    lane.done(record);
    if (!this.#stopped) this.#remembering ??= setTimeout(() => this.#rememberNow(), REMEMBER_EVERY_MS);
  }

  #pause(taken: Taken): void {
    const timer = setTimeout(() => {
      this.#pausing.delete(timer);
      this.#again.push({ ...taken, pauseMs: Math.min(2 * taken.pauseMs, LONGEST_PAUSE_MS) });
      this.#pump();
    }, taken.pauseMs);
    this.#pausing.add(timer);
  }

  #rememberNow(): void {
    this.#remembering = null;
    this.#remember().catch(() => {
      if (!this.#stopped) this.#remembering ??= setTimeout(() => this.#rememberNow(), READ_AGAIN_MS);
    });
  }

  async #remember(): Promise<void> {
    const advanced = new Map<Lane, number>();
    for (const lane of this.#lanes) if (lane.unremembered !== null) advanced.set(lane, lane.unremembered);
    if (advanced.size === 0) return;
    const offsets = new Map([...advanced].map(([{ topic }, next]) => [topic, next]));
    await this.#log.rememberOffsets(this.#options.group, offsets);
    for (const [lane, next] of advanced) lane.remembered(next);
  }
}
