/**
 * One partition's records as a consumer of a group takes them. They wait in a queue in offset order (gaps are normal), are
 * handed out from its head, and finish in any order; only the contiguous done prefix may be committed for the group.
 */
import {
  heldBytes,
  isTime,
  type PartitionState,
  type ReceivedRecord,
  type UnreadableBatch,
} from '../../ports/broker.js';

/** Work done behind the prefix: whole records by offset, and parts of unfinished records. */
export interface DoneBehind {
  readonly records: ReadonlySet<number>;
  readonly parts: ReadonlyMap<number, ReadonlySet<number>>;
}

/** A group's finished work in a partition: every record before the offset, and work behind it. */
export interface Progress {
  readonly offset: number;
  readonly behind?: DoneBehind;
}

interface DueRecord {
  readonly record: ReceivedRecord;
  /** ms by performance.now(). */
  readonly due: number;
  readonly bytes: number;
}

/** A record, or an unreadable batch, which is due once it is the lane's head: see RecordLane.headDue. */
export type LaneItem = DueRecord | { readonly unreadable: UnreadableBatch; readonly bytes: 0 };

/**
 * At so many records from the first unfinished one on, no more are handed out: 42 MB. Hazard: a dead letter that its topic
 * refuses may hold the first one for days; a Set takes 16.7 million, and a crash would have all of them done twice.
 */
export const MOST_BEHIND = 1_000_000;
/** Then the partition pauses: a producer's unknown codec must not turn a whole topic into dead letters before anyone looks. */
const MAX_UNREADABLE_IN_A_ROW = 20;
const UNREADABLE_PAUSE_MS = 60_000;

/** Before those at the beginning of a list are removed from it. */
const MIN_HANDED_OUT = 1_024;

export class RecordLane {
  /** The offset to read next: everything before it waits here or was handed out. */
  protected readTo: number;
  /** From #next on; those before it were handed out, and are undefined. */
  readonly #queue: (LaneItem | undefined)[] = [];
  #next = 0;
  #queuedBytes = 0;
  /** In order; those before #firstUndone are done. */
  readonly #handedOut: number[] = [];
  #firstUndone = 0;
  readonly #done: Set<number>;
  /** Done before this consumer began, and not handed out yet. */
  readonly #known: Set<number>;
  readonly #parts: Map<number, Set<number>>;
  #doneTo: number;
  #remembered: number;
  #hasSkipped = false;
  #unreadableInARow = 0;
  /** ms by performance.now(). */
  #unreadableAt = Number.NEGATIVE_INFINITY;

  /**
   * @param offset where the group is: everything before it is done
   * @param behind work already done behind it
   * @param remembered what is committed, if not the offset
   */
  constructor(offset: number, behind?: DoneBehind, remembered = offset) {
    this.readTo = this.#doneTo = offset;
    this.#remembered = remembered;
    this.#done = new Set(behind?.records);
    this.#known = new Set(behind?.records);
    this.#parts = new Map(behind && [...behind.parts].map(([at, parts]) => [at, new Set(parts)]));
  }

  /** @param next the offset to read next, whether or not there is a record before it */
  add(items: Iterable<LaneItem>, next: number): void {
    for (const item of items) {
      this.#queue.push(item);
      this.#queuedBytes += item.bytes;
    }
    this.readTo = next;
    this.#passQueued();
  }

  /** The next to hand out, due or not; may throw, and is called again later. */
  head(): LaneItem | undefined {
    return this.#head;
  }

  /** The due time of the head, as far as known without reading; Infinity if unknown. ms by performance.now() */
  get headDue(): number {
    const head = this.#head;
    if (!head) return Number.POSITIVE_INFINITY;
    if ('record' in head) return head.due;
    return this.#mustPause ? this.#unreadableAt + UNREADABLE_PAUSE_MS : 0;
  }

  get isFull(): boolean {
    return this.#handedOut.length - this.#firstUndone >= MOST_BEHIND;
  }

  takeHead(): void {
    const head = this.#shift();
    if (!head) return;
    const isUnreadable = 'unreadable' in head;
    this.#unreadableInARow = isUnreadable ? this.#unreadableInARow + 1 : 0;
    if (isUnreadable) this.#unreadableAt = performance.now();
    this.#handedOut.push(lastOf(head));
    this.#passQueued();
  }

  done(item: LaneItem): void {
    this.#doneAt(lastOf(item));
  }

  isPartDone(offset: number, part: number): boolean {
    return this.#parts.get(offset)?.has(part) ?? false;
  }

  partDone(offset: number, part: number): void {
    const parts = this.#parts.get(offset) ?? new Set();
    this.#parts.set(offset, parts.add(part));
  }

  /** The offset to commit, before which everything is done; null if it is committed already. */
  get unremembered(): number | null {
    const { doneTo } = this;
    return doneTo > this.#remembered ? doneTo : null;
  }

  remembered(offset: number): void {
    this.#remembered = offset;
  }

  get behind(): DoneBehind {
    return { records: this.#done, parts: this.#parts };
  }

  get behindSize(): number {
    return this.#done.size + this.#parts.size;
  }

  /** With nothing outstanding, everything read is done, including transaction markers, which have offsets. */
  protected get doneTo(): number {
    const isIdle = this.#next === this.#queue.length && this.#firstUndone === this.#handedOut.length;
    return isIdle ? Math.max(this.readTo, this.#doneTo) : this.#doneTo;
  }

  get committed(): number {
    return this.#remembered;
  }

  protected get queued(): { readonly records: number; readonly bytes: number } {
    return { records: this.#queue.length - this.#next, bytes: this.#queuedBytes };
  }

  /** The first waiting record, or the batch before which the lane pauses. */
  protected get headState(): Pick<PartitionState, 'head' | 'unreadable'> {
    const head = this.#head;
    if (!head) return { head: null, unreadable: null };
    if ('unreadable' in head) return { head: null, unreadable: this.#mustPause ? pausedBefore(head.unreadable) : null };
    const { timestamp } = head.record;
    const overdueMs = Math.max(0, performance.now() - head.due);
    return { head: { publishedAt: isTime(timestamp) ? timestamp : null, overdueMs }, unreadable: null };
  }

  /** Instead of handing it out, for a record that was done before. @returns false for any other */
  protected passKnown(offset: number): boolean {
    if (!this.#known.delete(offset)) return false;
    this.#hasSkipped = true;
    this.#handedOut.push(offset);
    this.#doneAt(offset);
    return true;
  }

  /** Whether records that were done before were skipped since the last call: progress that no handler reports. */
  takeSkipped(): boolean {
    const hasSkipped = this.#hasSkipped;
    this.#hasSkipped = false;
    return hasSkipped;
  }

  get #head(): LaneItem | undefined {
    return this.#queue[this.#next];
  }

  get #mustPause(): boolean {
    return this.#unreadableInARow >= MAX_UNREADABLE_IN_A_ROW;
  }

  #passQueued(): void {
    for (let head = this.#head; head && this.passKnown(lastOf(head)); head = this.#head) this.#shift();
  }

  /** Array.shift moves all others: to hand out a batch of 500,000 records took 67 s of CPU. */
  #shift(): LaneItem | undefined {
    const head = this.#head;
    if (!head) return undefined;
    this.#queue[this.#next] = undefined;
    this.#next += 1;
    this.#queuedBytes -= head.bytes;
    if (this.#next < MIN_HANDED_OUT || 2 * this.#next < this.#queue.length) return head;
    this.#queue.splice(0, this.#next);
    this.#next = 0;
    return head;
  }

  #doneAt(offset: number): void {
    this.#parts.delete(offset);
    this.#done.add(offset);
    const first = () => this.#handedOut[this.#firstUndone];
    for (let next = first(); next !== undefined && this.#done.delete(next); next = first()) {
      this.#doneTo = next + 1;
      this.#firstUndone += 1;
    }
    if (this.#firstUndone < MIN_HANDED_OUT) return;
    this.#handedOut.splice(0, this.#firstUndone);
    this.#firstUndone = 0;
  }
}

function pausedBefore({ first, codec, reason }: UnreadableBatch): PartitionState['unreadable'] {
  const inARow = `more than ${MAX_UNREADABLE_IN_A_ROW} batches in a row cannot be read (${codec}: ${reason})`;
  return { offset: first, reason: `${inARow}, so each waits for a minute` };
}

export function lastOf(item: LaneItem): number {
  return 'record' in item ? item.record.offset : item.unreadable.last;
}

/**
 * From here on the wait goes by a monotonic clock: if the wall clock is set back by hours, a record with seconds to wait
 * would wait for hours, and so would those behind it.
 * @param notBefore when a record is due, ms since the epoch; 0 is at once
 */
export function laneItem(
  received: ReceivedRecord | UnreadableBatch,
  notBefore: (record: ReceivedRecord) => number = () => 0,
): LaneItem {
  if ('digest' in received) return { unreadable: received, bytes: 0 };
  const left = notBefore(received) - Date.now();
  return { record: received, due: performance.now() + left, bytes: heldBytes(received) };
}
