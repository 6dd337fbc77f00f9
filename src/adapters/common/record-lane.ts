/**
 * One partition's records as a consumer of a group takes them. They are added in offset order (gaps are normal), wait in a
 * queue, are handed out from its head, and finish in any order; only the contiguous done prefix may be committed for the group.
 */
import {
  type CompletedAhead,
  type ConsumeOptions,
  heldBytes,
  isTime,
  type PartitionState,
  type ReceivedRecord,
  type RecordHandler,
  type UnreadableBatch,
} from '../../ports/broker.js';
import { TurnQueue } from './turn-queue.js';

/** A group's finished work in a partition: every record before the offset, and work behind it. */
export interface Progress {
  readonly offset: number;
  readonly behind?: CompletedAhead;
}

interface DueRecord {
  readonly record: ReceivedRecord;
  readonly handle: RecordHandler;
  /** ms by performance.now(). */
  readonly due: number;
  readonly bytes: number;
  /** Its key where keys take turns, '' where all wait for one another. */
  readonly turn: string;
}

/** A record, or an unreadable batch, which is due once it is the lane's head: see RecordLane.headDue. */
export type LaneItem = DueRecord | UnreadableItem;

interface UnreadableItem {
  readonly unreadable: UnreadableBatch;
  readonly bytes: 0;
  readonly turn: '';
  /** How many unreadable batches are before it with no record between. */
  readonly behind: number;
}

/**
 * At so many records from the first unfinished one on, no more are handed out: 42 MB. Hazard: a dead letter that its topic
 * refuses may hold the first one for days; a Set takes 16.7 million, and a crash would have all of them done twice.
 */
export const MOST_BEHIND = 1_000_000;
/** Then the partition pauses: a producer's unknown codec must not turn a whole topic into dead letters before anyone looks. */
const MAX_UNREADABLE_IN_A_ROW = 20;
const UNREADABLE_PAUSE_MS = 60_000;

/** Before those at the beginning of a list are removed from it. */
const MIN_DONE = 1_024;

export class RecordLane {
  /** The offset to read next: everything before it waits here or was handed out. */
  protected readTo: number;
  readonly #queue = new TurnQueue<LaneItem>({ now: () => performance.now() });
  #queuedBytes = 0;
  /** What was added, in order, waiting or handed out; those before #firstUndone are done. */
  readonly #offsets: number[] = [];
  #firstUndone = 0;
  readonly #done: Set<number>;
  /** Done before this consumer began, and not added yet. */
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
  constructor(offset: number, behind?: CompletedAhead, remembered = offset) {
    this.readTo = this.#doneTo = offset;
    this.#remembered = remembered;
    this.#done = new Set(behind?.records);
    this.#known = new Set(behind?.records);
    this.#parts = new Map(behind && [...behind.parts].map(([at, parts]) => [at, new Set(parts)]));
  }

  /** @param next the offset to read next, whether or not there is a record before it */
  add(items: Iterable<LaneItem>, next: number): void {
    for (const item of items) {
      const behind = this.#unreadableInARow;
      this.#unreadableInARow = 'unreadable' in item ? behind + 1 : 0;
      if (this.passKnown(lastOf(item))) continue;
      this.#queue.add('unreadable' in item ? { ...item, behind } : item);
      this.#queuedBytes += item.bytes;
      this.#offsets.push(lastOf(item));
    }
    this.readTo = next;
  }

  /** Adds more records behind those that wait, if their keys take turns. */
  readAhead(): void {}

  /** The next to hand out, due or not; may throw, and is called again later. @param onlyUsual see ConsumeOptions.mayBegin */
  head(onlyUsual = false): LaneItem | undefined {
    return this.#queue.head(onlyUsual);
  }

  /** The due time of the head, as far as known without reading; Infinity if unknown. ms by performance.now() */
  get headDue(): number {
    const head = this.#queue.head();
    if (!head) return Number.POSITIVE_INFINITY;
    if ('record' in head) return head.due;
    return mustPause(head) ? this.#unreadableAt + UNREADABLE_PAUSE_MS : 0;
  }

  get isFull(): boolean {
    return this.#offsets.length - this.#firstUndone - this.#queue.length >= MOST_BEHIND;
  }

  takeHead(onlyUsual = false): void {
    const head = this.#queue.take(onlyUsual);
    if (!head) return;
    this.#queuedBytes -= head.bytes;
    if ('unreadable' in head) this.#unreadableAt = performance.now();
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

  get behind(): CompletedAhead {
    return { records: this.#done, parts: this.#parts };
  }

  get behindSize(): number {
    return this.#done.size + this.#parts.size;
  }

  /** With nothing outstanding, everything read is done, including transaction markers, which have offsets. */
  protected get doneTo(): number {
    const isIdle = this.#firstUndone === this.#offsets.length;
    return isIdle ? Math.max(this.readTo, this.#doneTo) : this.#doneTo;
  }

  get committed(): number {
    return this.#remembered;
  }

  /** Records from the oldest waiting on: so many are done, or begun, ahead of it at most. Bytes of those that wait. */
  protected get queued(): { readonly records: number; readonly bytes: number } {
    return { records: this.#queue.span, bytes: this.#queuedBytes };
  }

  /** The record that has waited longest, or the batch before which the lane pauses. */
  protected get headState(): Pick<PartitionState, 'head' | 'unreadable'> {
    const { oldest } = this.#queue;
    const head = this.#queue.head();
    if (!head || !oldest) return { head: null, unreadable: null };
    if ('unreadable' in head) return { head: null, unreadable: mustPause(head) ? pausedBefore(head.unreadable) : null };
    const { record, due } = 'record' in oldest ? oldest : head;
    const { timestamp } = record;
    const overdueMs = Math.max(0, performance.now() - due);
    return { head: { publishedAt: isTime(timestamp) ? timestamp : null, overdueMs }, unreadable: null };
  }

  /** Instead of adding it, for a record that was done before. @returns false for any other */
  protected passKnown(offset: number): boolean {
    if (!this.#known.delete(offset)) return false;
    this.#hasSkipped = true;
    this.#offsets.push(offset);
    this.#doneAt(offset);
    return true;
  }

  /** Whether records that were done before were skipped since the last call: progress that no handler reports. */
  takeSkipped(): boolean {
    const hasSkipped = this.#hasSkipped;
    this.#hasSkipped = false;
    return hasSkipped;
  }

  #doneAt(offset: number): void {
    this.#parts.delete(offset);
    this.#done.add(offset);
    const first = () => this.#offsets[this.#firstUndone];
    for (let next = first(); next !== undefined && this.#done.delete(next); next = first()) {
      this.#doneTo = next + 1;
      this.#firstUndone += 1;
    }
    if (this.#firstUndone < MIN_DONE) return;
    this.#offsets.splice(0, this.#firstUndone);
    this.#firstUndone = 0;
  }
}

const mustPause = ({ behind }: UnreadableItem) => behind >= MAX_UNREADABLE_IN_A_ROW;

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
 */
export function laneItem(
  received: ReceivedRecord | UnreadableBatch,
  { accept, turnsByKey = false }: Pick<ConsumeOptions, 'accept' | 'turnsByKey'>,
): LaneItem {
  if ('digest' in received) return { unreadable: received, bytes: 0, turn: '', behind: 0 };
  const { notBefore = 0, handle } = accept(received);
  const left = notBefore - Date.now();
  const turn = turnsByKey ? (received.key?.toString('latin1') ?? '') : '';
  return { record: received, handle, due: performance.now() + left, bytes: heldBytes(received), turn };
}
