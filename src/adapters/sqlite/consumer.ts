/**
 * A consumer of the embedded broker. Per topic a lane: a page of records read ahead, the place up to which it read, and
 * what of it is done. Lanes take turns; each hands out its head where that is due, until the limit is reached.
 *
 *   standing by -> working (the group's lock is held) -> stopping (close) -> closed
 */
import type { ConsumeOptions, Consumer, ReceivedRecord } from '../../ports/broker.js';
import { DonePrefix } from '../../ports/done-prefix.js';
import { GroupLock } from './group-lock.js';
import type { RecordLog } from './record-log.js';
import type { StoreFile } from './store-file.js';

const PAGE = 100;
const REMEMBER_EVERY_MS = 100;
const READ_AGAIN_MS = 500;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
/** A timer's longest, about 24 days; what is due later is looked at again then. */
const LONGEST_TIMER_MS = 2_147_483_647;

interface Lane {
  readonly topic: string;
  readonly done: DonePrefix;
  page: ReceivedRecord[];
  nextRead: number;
  remembered: number;
  /** False while the last page was the topic's end and nothing was published since. */
  mayHaveMore: boolean;
}

export class SqliteConsumer implements Consumer {
  readonly closed: Promise<void>;
  readonly #options: ConsumeOptions;
  readonly #log: RecordLog;
  readonly #lock: GroupLock;
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #unsubscribe: () => void;
  #lanes: Lane[] = [];
  #unsettled = 0;
  #stopped = false;
  #pumping = false;
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

  /** @throws an error of SQLite */
  start(): void {
    this.#lock.acquire();
  }

  stop(): void {
    this.#stopped = true;
    this.#unsubscribe();
    if (this.#wake) clearTimeout(this.#wake);
    // A record whose retry was pending is unsettled no more: it will not be handed out again.
    this.#unsettled -= this.#timers.size;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (!this.#stopped) this.stop();
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
    const { group, topics } = this.#options;
    this.#lanes = [...new Set(topics)].map((topic) => {
      const next = this.#log.groupOffset(group, topic);
      const done = new DonePrefix(next);
      return { topic, done, page: [], nextRead: next, remembered: next, mayHaveMore: true };
    });
    this.#pumpSoon(0);
  }

  #changed(touched: ReadonlySet<string> | null): void {
    for (const lane of this.#lanes) if (!touched || touched.has(lane.topic)) lane.mayHaveMore = true;
    if (this.#lanes.some((lane) => lane.mayHaveMore)) this.#pump();
  }

  #pumpSoon(afterMs: number): void {
    if (this.#stopped) return;
    if (this.#wake) clearTimeout(this.#wake);
    this.#wake = setTimeout(() => this.#pump(), Math.min(afterMs, LONGEST_TIMER_MS));
  }

  /** Hands out what is due, one of each lane in turn, while the limit allows. */
  #pump(): void {
    // A handler may publish and so come back here before it has returned.
    if (this.#stopped || this.#pumping) return;
    this.#pumping = true;
    try {
      let handedOut = true;
      while (handedOut && this.#unsettled < this.#options.inFlight) {
        handedOut = false;
        for (const lane of this.#lanes) handedOut = this.#handOutHead(lane) || handedOut;
      }
      this.#wakeWhenDue();
    } catch {
      this.#pumpSoon(READ_AGAIN_MS);
    } finally {
      this.#pumping = false;
    }
  }

  #handOutHead(lane: Lane): boolean {
    if (this.#stopped || this.#unsettled >= this.#options.inFlight) return false;
    const head = this.#head(lane);
    if (!head || this.#due(head) > Date.now()) return false;
    lane.page.shift();
    lane.done.handOut(head.offset);
    this.#unsettled += 1;
    this.#handle(lane, head, FIRST_PAUSE_MS);
    return true;
  }

  #head(lane: Lane): ReceivedRecord | undefined {
    if (lane.page.length === 0 && lane.mayHaveMore) {
      lane.page = this.#log.page(lane.topic, lane.nextRead, PAGE);
      lane.mayHaveMore = lane.page.length === PAGE;
      lane.nextRead = (lane.page.at(-1)?.offset ?? lane.nextRead - 1) + 1;
    }
    return lane.page[0];
  }

  #due(record: ReceivedRecord): number {
    return this.#options.notBefore?.(record) ?? 0;
  }

  #wakeWhenDue(): void {
    const heads = this.#lanes.flatMap((lane) => lane.page.slice(0, 1));
    const next = Math.min(...heads.map((head) => this.#due(head)));
    if (Number.isFinite(next) && this.#unsettled < this.#options.inFlight)
      this.#pumpSoon(Math.max(0, next - Date.now()));
  }

  #handle(lane: Lane, record: ReceivedRecord, pauseMs: number): void {
    Promise.resolve()
      .then(() => this.#options.handler(record))
      .then(
        () => this.#done(lane, record),
        () => this.#again(lane, record, pauseMs),
      );
  }

  #done(lane: Lane, record: ReceivedRecord): void {
    lane.done.done(record.offset);
    this.#settle();
    if (this.#stopped) return;
    this.#remembering ??= setTimeout(() => this.#rememberNow(), REMEMBER_EVERY_MS);
    this.#pump();
  }

  #again(lane: Lane, record: ReceivedRecord, pauseMs: number): void {
    if (this.#stopped) {
      this.#settle();
      return;
    }
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#handle(lane, record, Math.min(2 * pauseMs, LONGEST_PAUSE_MS));
    }, pauseMs);
    this.#timers.add(timer);
  }

  #settle(): void {
    this.#unsettled -= 1;
    if (this.#unsettled === 0) this.#settled();
  }

  #rememberNow(): void {
    this.#remembering = null;
    this.#remember().catch(() => {
      if (!this.#stopped) this.#remembering ??= setTimeout(() => this.#rememberNow(), READ_AGAIN_MS);
    });
  }

  async #remember(): Promise<void> {
    const advanced = this.#lanes.filter((lane) => lane.done.next > lane.remembered);
    if (advanced.length === 0) return;
    const offsets = new Map(advanced.map((lane) => [lane.topic, lane.done.next]));
    await this.#log.rememberOffsets(this.#options.group, offsets);
    for (const lane of advanced) lane.remembered = offsets.get(lane.topic) ?? lane.remembered;
  }
}
