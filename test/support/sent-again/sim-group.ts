/** A group that reads topics: with rebalances, and commits of the contiguous done prefix. */
import type { ReceivedRecord, RecordHandler, RecordHold } from '../../../src/ports/broker.js';
import type { Process } from './kernel.js';
import { type SimTopics, WAY_MS } from './sim-broker.js';

interface Owned {
  readonly by: Process;
  readonly incarnation: number;
  next: number;
  prefix: number;
  readonly done: Set<number>;
  readonly parts: Map<number, Set<number>>;
  inFlight: number;
  isCommitting: boolean;
}

interface Assigned {
  readonly topic: string;
  readonly partition: number;
  readonly records: readonly ReceivedRecord[];
  prefix: number;
  /** What a planned rebalance hands over. */
  done: Set<number>;
  owner: Owned | null;
  readonly handedOut: Set<number>;
}

interface Member {
  readonly incarnation: number;
  /** Null: it takes no record. */
  readonly handler: RecordHandler | null;
}

const IN_FLIGHT = 8;

export interface SimGroupParts {
  readonly name: string;
  readonly topics: readonly string[];
  readonly notBefore?: (record: ReceivedRecord) => number;
  /** Called where a record is handed out for a second time. */
  readonly onAgain?: (record: ReceivedRecord) => void;
}

export class SimGroup {
  readonly #topics: SimTopics;
  readonly #parts: SimGroupParts;
  readonly #assigned: Assigned[];
  readonly #members = new Map<Process, Member>();
  #generation = 0;

  constructor(topics: SimTopics, parts: SimGroupParts) {
    this.#topics = topics;
    this.#parts = parts;
    this.#assigned = parts.topics.flatMap((topic) =>
      topics.partitions(topic).map((records, partition) => {
        return {
          topic,
          partition,
          records,
          prefix: 0,
          done: new Set<number>(),
          owner: null,
          handedOut: new Set<number>(),
        };
      }),
    );
    topics.groups.push(this);
  }

  get name(): string {
    return this.#parts.name;
  }

  /** @param handler null: it takes no record */
  join(member: Process, handler: RecordHandler | null): void {
    this.#members.set(member, { handler, incarnation: member.incarnation });
    this.rebalance();
  }

  /** @returns what lets it join again as it was */
  leave(member: Process): () => void {
    const left = this.#members.get(member);
    if (!left) return () => undefined;
    this.#members.delete(member);
    this.rebalance();
    return () => {
      if (left.incarnation === member.incarnation) this.join(member, left.handler);
    };
  }

  committed(topic: string): ReadonlyMap<number, number> {
    return new Map(this.#of(topic).map(({ partition, prefix }) => [partition, prefix]));
  }

  isOwner(topic: string, partition: number, member: Process): boolean {
    const owner = this.#of(topic)[partition]?.owner;
    return owner?.by === member && owner.incarnation === member.incarnation;
  }

  get owner(): Process | null {
    return this.#assigned[0]?.owner?.by ?? null;
  }

  /** A partition of all tiers goes to one member, as with the range assignor. */
  rebalance(): void {
    const { kernel } = this.#topics;
    // One that was killed joins again once it has started.
    const isMember = ([one, { incarnation }]: readonly [Process, Member]) => one.incarnation === incarnation;
    const members = [...this.#members].filter(isMember).map(([one]) => one);
    this.#generation += 1;
    for (const [at, assigned] of this.#assigned.entries()) {
      const isAlone = this.#of(assigned.topic).length === 1;
      const turn = isAlone ? at : assigned.partition;
      const member = members[(this.#generation + turn) % Math.max(members.length, 1)];
      const { owner } = assigned;
      if (owner && owner.by === member && owner.incarnation === member.incarnation) continue;
      if (owner && this.#members.has(owner.by) && owner.by.isAlive && !owner.by.isFrozen) {
        [assigned.prefix, assigned.done] = [owner.prefix, new Set(owner.done)];
      }
      assigned.owner = member ? ownedBy(member, assigned) : null;
      kernel.after(kernel.between(5, 80), () => this.#pump(assigned));
    }
  }

  appended(topic: string, partition: number): void {
    const assigned = this.#of(topic)[partition];
    if (assigned) this.#topics.kernel.after(this.#topics.kernel.between(1, WAY_MS), () => this.#pump(assigned));
  }

  #of(topic: string): Assigned[] {
    return this.#assigned.filter((assigned) => assigned.topic === topic);
  }

  #pump(assigned: Assigned): void {
    const { kernel } = this.#topics;
    const { owner, records } = assigned;
    const handler = owner && this.#members.get(owner.by)?.handler;
    if (!owner || !handler || !owner.by.isAlive || owner.incarnation !== owner.by.incarnation) return;
    if (owner.by.isFrozen) return void kernel.at(owner.by.frozenUntil, () => this.#pump(assigned));
    while (owner.inFlight < IN_FLIGHT) {
      const record = records[owner.next];
      if (!record) return;
      const due = this.#parts.notBefore?.(record) ?? 0;
      if (due > kernel.now) return void kernel.at(due, () => this.#pump(assigned));
      owner.next += 1;
      if (!owner.done.has(record.offset)) this.#handOut(assigned, owner, record, handler);
    }
  }

  #handOut(assigned: Assigned, owner: Owned, record: ReceivedRecord, handler: RecordHandler): void {
    if (assigned.handedOut.has(record.offset)) this.#parts.onAgain?.(record);
    assigned.handedOut.add(record.offset);
    owner.inFlight += 1;
    const parts = owner.parts.get(record.offset) ?? new Set<number>();
    owner.parts.set(record.offset, parts);
    const hold: RecordHold = {
      isOwn: () => assigned.owner === owner,
      partDone: (part) => void parts.add(part),
      isPartDone: (part) => parts.has(part),
    };
    const over = (): boolean => {
      owner.inFlight -= 1;
      return assigned.owner === owner;
    };
    handler(record, hold).then(
      () => {
        if (over()) this.#done(assigned, owner, record.offset);
      },
      () => {
        if (over()) owner.by.after(200, () => this.#handOut(assigned, owner, record, handler));
      },
    );
  }

  #done(assigned: Assigned, owner: Owned, offset: number): void {
    owner.done.add(offset);
    while (owner.done.delete(owner.prefix)) owner.prefix += 1;
    this.#pump(assigned);
    if (owner.isCommitting) return;
    owner.isCommitting = true;
    owner.by.after(this.#topics.kernel.between(100, 500), () => {
      owner.isCommitting = false;
      if (assigned.owner === owner) [assigned.prefix, assigned.done] = [owner.prefix, new Set()];
    });
  }
}

function ownedBy(by: Process, { prefix, done }: Assigned): Owned {
  const { incarnation } = by;
  const begun = { next: prefix, prefix, done: new Set(done), parts: new Map() };
  return { by, incarnation, ...begun, inFlight: 0, isCommitting: false };
}
