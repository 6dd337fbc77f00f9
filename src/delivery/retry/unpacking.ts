/**
 * Unpacks bundles that are due: each member is delivered as a record of its own would be.
 *
 *   bundle: queued for its account -> members handed over, some per slice -> each has ended or waits in another bundle -> done
 *
 * The bundles of an account are unpacked in their order. Accounts take turns, a member each: a long backlog of one delays no
 * other, and costs the thread a bounded share. Members are parts of their record: those that are done do not come again.
 */
import type { ReceivedRecord, RecordHold } from '../../ports/broker.js';
import { type Delivery, foreignHeaders, fromRetryRecord } from '../delivery.js';
import { type Bundle, bytesOf, type Members, membersOf, withMembers } from './bundle.js';

/** 5,000 per second, more than a process delivers. One that is deferred again costs about 100 us: half of the thread. */
const MEMBERS_PER_SLICE = 40;
const SLICE_MS = 8;
/**
 * Bundles, of which each account counts with COUNTED at most: where the process is the bottleneck, the others stay in their topics.
 * If one account's backlog sufficed, it would hold up the retries of all others.
 */
const ENOUGH_QUEUED = 2_048;
const COUNTED = 16;
/** Of bundles that wait to be unpacked, shared equally by accounts: half of what a consumer may hold. Each account has one. */
const MAX_QUEUED_BYTES = 32 * 1024 * 1024;

export interface UnpackingParts {
  /** Fulfilled when the delivery has ended or waits elsewhere. */
  readonly deliver: (delivery: Delivery, hold: RecordHold) => Promise<unknown>;
  /** Whether members may be handed over now: each may want a slot. */
  readonly mayContinue: () => boolean;
  /** Moves a member that is not ours to the dead letters. @param member as a record of its own */
  readonly refuse: (member: ReceivedRecord) => Promise<void>;
  /** Calls back after so many ms. */
  readonly later?: (passed: () => void, ms: number) => void;
}

export class Unpacking {
  readonly #parts: UnpackingParts;
  /** By account, in the order of their turns. */
  readonly #queued = new Map<number, UnpackedBundle[]>();
  /** Of all queues, COUNTED of each at most. */
  #counted = 0;
  #left = MEMBERS_PER_SLICE;
  #isTimed = false;

  constructor(parts: UnpackingParts) {
    this.#parts = parts;
  }

  /** Take no more records then. */
  get isFull(): boolean {
    return this.#counted >= ENOUGH_QUEUED;
  }

  /** Whether the bundle's account may have one more. */
  hasRoom(record: ReceivedRecord): boolean {
    const queued = this.#queued.get(accountOf(record)) ?? [];
    const bytes = queued.reduce((sum, { leftBytes }) => sum + leftBytes, 0);
    return queued.length === 0 || bytes < MAX_QUEUED_BYTES / this.#queued.size;
  }

  /** Fulfilled when all members are done; rejected, once all have settled, if one has to come again. */
  unpack(bundle: Bundle, hold: RecordHold): Promise<void> {
    const unpacked = new UnpackedBundle(this.#parts, bundle, hold);
    const accountId = accountOf(bundle.record);
    const queued = this.#queued.get(accountId) ?? [];
    if (queued.push(unpacked) <= COUNTED) this.#counted += 1;
    if (queued.length === 1) this.#queued.set(accountId, queued);
    this.#handOver();
    return unpacked.done;
  }

  #handOver(): void {
    for (; this.#left > 0 && this.#queued.size > 0 && this.#parts.mayContinue(); this.#left -= 1) this.#handOverOne();
    if (this.#isTimed || (this.#left === MEMBERS_PER_SLICE && this.#queued.size === 0)) return;
    this.#isTimed = true;
    (this.#parts.later ?? setTimeout)(() => {
      this.#isTimed = false;
      this.#left = MEMBERS_PER_SLICE;
      this.#handOver();
    }, SLICE_MS);
  }

  #handOverOne(): void {
    for (const [accountId, bundles] of this.#queued) {
      this.#queued.delete(accountId);
      if (bundles[0]?.handOverNext() === false) {
        if (bundles.length <= COUNTED) this.#counted -= 1;
        bundles.shift();
      }
      if (bundles.length > 0) this.#queued.set(accountId, bundles);
      return;
    }
  }
}

class UnpackedBundle {
  readonly done: Promise<void>;
  readonly #parts: UnpackingParts;
  readonly #hold: RecordHold;
  #members: Members;
  readonly #addedMs: number;
  /** Those that are not done. Their bytes are what the record should hold. */
  readonly #left = new Set<number>();
  #record: ReceivedRecord;
  #heldBytes: number;
  leftBytes: number;
  #next = 0;
  #failure: { readonly error: unknown } | null = null;
  #unsettled = 0;
  #settled!: () => void;

  constructor(parts: UnpackingParts, { record, members, wait }: Bundle, hold: RecordHold) {
    this.#parts = parts;
    this.#addedMs = wait.addedMs ?? 0;
    this.#record = record;
    this.#members = members;
    this.#hold = hold;
    for (const [part, member] of members.entries()) if (member && !hold.isPartDone(part)) this.#left.add(part);
    this.#heldBytes = record.value?.length ?? 0;
    this.leftBytes = [...this.#left].reduce((sum, part) => sum + this.#bytesOf(part), 0);
    this.done = new Promise<void>((resolve) => {
      this.#settled = resolve;
    }).then(() => {
      if (this.#failure) throw this.#failure.error;
    });
  }

  /** @returns whether there are more */
  handOverNext(): boolean {
    while (this.#next < this.#members.length && !this.#left.has(this.#next)) this.#next += 1;
    const part = this.#next;
    const member = this.#members[part];
    if (member) {
      this.#next += 1;
      this.#unsettled += 1;
      void this.#settle(part, this.#start({ ...this.#record, ...member }));
    }
    const hasMore = this.#next < this.#members.length;
    if (!hasMore && this.#unsettled === 0) this.#settled();
    return hasMore;
  }

  /** Not async: while the attempt lasts, nothing here may hold the member, which shares the memory of its bundle. */
  #start(member: ReceivedRecord): Promise<unknown> {
    const { deliver, refuse } = this.#parts;
    try {
      const delivery = fromRetryRecord(member);
      return delivery ? deliver(this.#detached(delivery), this.#hold) : refuse(member);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Never rejects. */
  async #settle(part: number, ended: Promise<unknown>): Promise<void> {
    try {
      await ended;
      this.#partDone(part);
    } catch (error) {
      this.#failure = { error };
    }
    this.#unsettled -= 1;
    if (this.#unsettled === 0 && this.#next >= this.#members.length) this.#settled();
  }

  #partDone(part: number): void {
    this.#hold.partDone(part);
    this.leftBytes -= this.#bytesOf(part);
    this.#left.delete(part);
    if (this.leftBytes <= this.#heldBytes / 2 && this.#left.size > 0) this.#keepLeft();
  }

  /** A slow attempt holds the memory of its own delivery, not that of its bundle. */
  #keepLeft(): void {
    const left = this.#members.map((member, part) => (this.#left.has(part) ? member : null));
    const { key, headers: shared } = this.#record;
    const headers = shared.map(([name, text]) => [name, Buffer.from(text)] as const);
    this.#record = withMembers({ ...this.#record, key: key && Buffer.from(key), headers }, left);
    this.#members = membersOf(this.#record) ?? left;
    this.#heldBytes = this.leftBytes;
    this.#hold.keep(this.#record);
  }

  /** With memory of its own: a delivery that takes long must not hold that of its whole bundle. */
  #detached(delivery: Delivery): Delivery {
    const { key, value } = delivery.record;
    const headers = foreignHeaders(delivery.record).map(([name, text]) => [name, Buffer.from(text)] as const);
    const record = { key: key && Buffer.from(key), value: value && Buffer.from(value), headers };
    return { ...delivery, usedMs: delivery.usedMs + this.#addedMs, record };
  }

  #bytesOf(part: number): number {
    const member = this.#members[part];
    return member ? bytesOf(member) : 0;
  }
}

function accountOf({ key }: ReceivedRecord): number {
  return Number.parseInt(key?.toString('utf8') ?? '', 10) || 0;
}
