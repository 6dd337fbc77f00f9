/**
 * Hands the records of several lanes to a handler: shared by the consumers of all brokers. Lanes take turns; each hands out
 * its head when that is due, until a limit is reached. A rejected record frees its place while it pauses; its bytes stay in
 * memory, and count.
 *
 *   record:   head of its lane -> with the handler -> done
 *                                       ^   \-> pausing -> redelivery -\
 *                                       \------------------------------/
 */
import { type ConsumeOptions, heldBytes, type NewRecord } from '../../ports/broker.js';
import { FOR_EVER, Hold, type Lease, RecordHolds } from './record-holds.js';
import { type LaneItem, lastOf, type RecordLane } from './record-lane.js';

/**
 * Handed out in one turn of the event loop: the handlers' synchronous work before their first await adds up. Hazard: on the
 * embedded broker the resulting writes are one transaction, and 100 records of 256 KiB blocked everything else for seconds.
 */
const MOST_A_TURN = 500;
const MOST_BYTES_A_TURN = 1024 * 1024;
/** While records wait, a turn also has other work, three times as long as that of 100 records: 4,000 waited for 1.5 s. */
const MOST_MS_A_TURN = 20;
/** Rejected records stay in memory; at this number, nothing new is started. */
const MOST_REJECTED = 1_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
const READ_AGAIN_MS = 500;
/** The longest timer, about 24 days; anything due later is checked again then. */
const LONGEST_TIMER_MS = 2_147_483_647;

export interface RecordPumpOptions
  extends Pick<ConsumeOptions, 'inFlight' | 'inFlightBytes' | 'mayBegin' | 'onUnreadable'> {
  /** Called when there is more to commit: a record, or a part of one, is done, or was skipped because it was done before. */
  readonly onDone: () => void;
  /** Without it, the consumer always owns its lanes. */
  readonly lease?: Lease;
}

interface Taken {
  readonly lane: RecordLane;
  item: LaneItem;
  /** The pause if it is rejected this time. */
  readonly pauseMs: number;
}

export class RecordPump {
  readonly #options: RecordPumpOptions;
  readonly #lease: Lease;
  readonly #holds: RecordHolds;
  readonly #pausing = new Set<NodeJS.Timeout>();
  #again: Taken[] = [];
  #lanes: ReadonlySet<RecordLane> = new Set();
  #lastLane: RecordLane | null = null;
  #unsettled = 0;
  /** Of records in hand: with the handler, pausing, or waiting for redelivery. */
  #bytes = 0;
  #stopped = false;
  #pumping = false;
  #turn: NodeJS.Immediate | null = null;
  #wake: NodeJS.Timeout | null = null;
  #settled: () => void = () => undefined;

  constructor(options: RecordPumpOptions) {
    this.#options = options;
    this.#lease = options.lease ?? FOR_EVER;
    this.#holds = new RecordHolds(this.#lease, (lane) => this.#lanes.has(lane), options.onDone);
  }

  get inHand(): number {
    return this.#unsettled + this.#pausing.size + this.#again.length;
  }

  /** Replaces the lanes: rejected records of lanes not among them are dropped. */
  setLanes(lanes: Iterable<RecordLane>): void {
    this.#lanes = new Set(lanes);
    const rejected = this.#again.splice(0);
    for (const taken of rejected) this.#comeAgain(taken);
    this.pumpNextTurn();
  }

  /** Hands out due records while the limit allows: first rejected ones, then one of each lane in turn. */
  pump(): void {
    // A handler may publish and so re-enter here before it has returned. The rest of a long line waits for its turn.
    if (this.#stopped || this.#pumping || this.#turn) return;
    this.#pumping = true;
    try {
      if (this.#handOut()) this.pumpNextTurn();
      else this.#pumpWhenDue();
    } catch {
      if (!this.#stopped) this.#pumpAfter(READ_AGAIN_MS);
    } finally {
      this.#pumping = false;
    }
  }

  pumpNextTurn(): void {
    if (this.#stopped) return;
    this.#turn ??= setImmediate(() => {
      this.#turn = null;
      this.pump();
    });
  }

  stop(): void {
    this.#stopped = true;
    if (this.#wake) clearTimeout(this.#wake);
    if (this.#turn) clearImmediate(this.#turn);
    for (const timer of this.#pausing) clearTimeout(timer);
  }

  /** After stop: fulfilled once every handler promise is settled. From then on this consumer owns no record. */
  async drained(): Promise<void> {
    if (this.#unsettled > 0) {
      await new Promise<void>((resolve) => {
        this.#settled = resolve;
      });
    }
    this.#lanes = new Set();
  }

  /** Call while the lease does not hold: fulfilled once everything that handlers started after a yes has ended. */
  quiet(): Promise<void> {
    return this.#holds.quiet();
  }

  #pumpAfter(ms: number): void {
    if (this.#wake) clearTimeout(this.#wake);
    this.#wake = setTimeout(() => this.pump(), Math.min(ms, LONGEST_TIMER_MS));
  }

  /** True if more may be ready to hand out at once. */
  #handOut(): boolean {
    let handedOut = 0;
    const bytes = this.#bytes;
    const until = performance.now() + MOST_MS_A_TURN;
    const isEnough = () =>
      handedOut >= MOST_A_TURN || this.#bytes - bytes >= MOST_BYTES_A_TURN || performance.now() >= until;
    const lanes = this.#lanesInTurn();
    for (let before = -1; before < handedOut && !isEnough(); ) {
      before = handedOut;
      if (this.#handOutAgain()) handedOut += 1;
      for (const lane of lanes) if (this.#handOutHead(lane)) handedOut += 1;
    }
    if (this.#options.inFlight > 0) for (const lane of this.#lanes) lane.readAhead();
    return isEnough() && this.#hasRoom();
  }

  /** Where one record may begin at a time, it is not always the first lane's. */
  #lanesInTurn(): readonly RecordLane[] {
    const lanes = [...this.#lanes];
    const next = this.#lastLane ? lanes.indexOf(this.#lastLane) + 1 : 0;
    return [...lanes.slice(next), ...lanes.slice(0, next)];
  }

  #hasRoom(): boolean {
    return !this.#stopped && this.#lease.holds && this.#unsettled < this.#options.inFlight;
  }

  #hasRoomForMore(): boolean {
    const { inFlightBytes = Number.POSITIVE_INFINITY } = this.#options;
    const rejected = this.#pausing.size + this.#again.length;
    return this.#hasRoom() && rejected < MOST_REJECTED && this.#bytes < inFlightBytes;
  }

  #handOutAgain(): boolean {
    if (!this.#hasRoom()) return false;
    const taken = this.#again.shift();
    if (taken) void this.#handle(taken);
    return taken !== undefined;
  }

  #handOutHead(lane: RecordLane): boolean {
    if (lane.isFull || !this.#hasRoomForMore()) return false;
    const { mayBegin = () => true, onDone } = this.#options;
    const first = lane.head();
    if (lane.takeSkipped()) onDone();
    if (!first || lane.headDue > performance.now()) return false;
    const onlyUsual = !mayBegin(false);
    const head = onlyUsual ? lane.head(true) : first;
    if (!head || (onlyUsual && !mayBegin(true))) return false;
    lane.takeHead(onlyUsual);
    this.#lastLane = lane;
    this.#bytes += head.bytes;
    void this.#handle({ lane, item: head, pauseMs: FIRST_PAUSE_MS });
    return true;
  }

  /** A due record that may not start yet is also checked again within a millisecond. */
  #pumpWhenDue(): void {
    let due = Number.POSITIVE_INFINITY;
    for (const lane of this.#lanes) if (!lane.isFull) due = Math.min(due, lane.headDue);
    if (Number.isFinite(due) && this.#hasRoomForMore()) this.#pumpAfter(Math.max(1, due - performance.now()));
  }

  /** Never rejects. */
  async #handle(taken: Taken): Promise<void> {
    this.#unsettled += 1;
    const hold = new Hold(this.#holds, taken.lane, lastOf(taken.item), (content) => this.#keep(taken, content));
    let isDone = true;
    try {
      await this.#call(taken, hold);
    } catch {
      isDone = false;
    }
    this.#unsettled -= 1;
    if (isDone) this.#done(taken);
    else if (!this.#stopped) this.#pause(taken);
    hold.ended();
    if (this.#unsettled === 0) this.#settled();
    this.pump();
  }

  /** A function of its own: while the handler works, nothing here may hold the content that it replaces. */
  #call({ item }: Taken, hold: Hold): Promise<void> | undefined {
    if ('unreadable' in item) return this.#options.onUnreadable?.(item.unreadable);
    return item.handle(item.record, hold);
  }

  #keep(taken: Taken, { key, value, headers }: NewRecord): void {
    const { item } = taken;
    if (!('record' in item)) return;
    const record = { ...item.record, key, value, headers };
    taken.item = { ...item, record, bytes: heldBytes(record) };
    this.#bytes += taken.item.bytes - item.bytes;
    this.pumpNextTurn();
  }

  #done({ lane, item }: Taken): void {
    this.#bytes -= item.bytes;
    lane.done(item);
    this.#options.onDone();
  }

  #pause(taken: Taken): void {
    const timer = setTimeout(() => {
      this.#pausing.delete(timer);
      this.#comeAgain({ ...taken, pauseMs: Math.min(2 * taken.pauseMs, LONGEST_PAUSE_MS) });
      this.pump();
    }, taken.pauseMs);
    this.#pausing.add(timer);
  }

  #comeAgain(taken: Taken): void {
    if (this.#lanes.has(taken.lane)) this.#again.push(taken);
    else this.#bytes -= taken.item.bytes;
  }
}
