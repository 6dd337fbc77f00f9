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

/** A record, or an unreadable batch, which is due once it is the lane's head. */
export type LaneItem = DueRecord | { readonly unreadable: UnreadableBatch; readonly bytes: 0 };

/**
 * At so many records from the first unfinished one on, no more are handed out: 42 MB. Hazard: a dead letter that its topic
 * refuses may hold the first one for days; a Set takes 16.7 million, and a crash would have all of them done twice.
 */
export const MOST_BEHIND = 1_000_000;

export class RecordLane {
  /** The offset to read next: everything before it waits here or was handed out. */
  protected readTo: number;
  readonly #queue: LaneItem[] = [];
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
    return this.#queue[0];
  }

  /** The due time of the head, as far as known without reading; Infinity if unknown. ms by performance.now() */
  get headDue(): number {
    const [head] = this.#queue;
    if (!head) return Number.POSITIVE_INFINITY;
    return 'record' in head ? head.due : 0;
  }

  get isFull(): boolean {
    return this.#handedOut.length - this.#firstUndone >= MOST_BEHIND;
  }

  takeHead(): void {
    const head = this.#shift();
    if (!head) return;
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
    const isIdle = this.#queue.length === 0 && this.#firstUndone === this.#handedOut.length;
    return isIdle ? Math.max(this.readTo, this.#doneTo) : this.#doneTo;
  }

  get committed(): number {
    return this.#remembered;
  }

  protected get queued(): { readonly records: number; readonly bytes: number } {
    return { records: this.#queue.length, bytes: this.#queuedBytes };
  }

  /** The first waiting record. */
  protected get headState(): PartitionState['head'] {
    const [head] = this.#queue;
    if (!head || 'unreadable' in head) return null;
    const { timestamp } = head.record;
    const overdueMs = Math.max(0, performance.now() - head.due);
    return { publishedAt: isTime(timestamp) ? timestamp : null, overdueMs };
  }

  /** Instead of handing it out, for a record that was done before. @returns false for any other */
  protected passKnown(offset: number): boolean {
    if (!this.#known.delete(offset)) return false;
    this.#handedOut.push(offset);
    this.#doneAt(offset);
    return true;
  }

  #passQueued(): void {
    for (let [head] = this.#queue; head && this.passKnown(lastOf(head)); [head] = this.#queue) this.#shift();
  }

  #shift(): LaneItem | undefined {
    const head = this.#queue.shift();
    if (head) this.#queuedBytes -= head.bytes;
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
    if (this.#firstUndone < 1024) return;
    this.#handedOut.splice(0, this.#firstUndone);
    this.#firstUndone = 0;
  }
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
