/**
 * Where deliveries wait for a time, as in the service: deferrals of one endpoint that are due together share a bundle
 * (bundle-writer.ts). A tier is first in, first out by partition. A bundle that is due is unpacked, some members per slice, a member of
 * each account in turn (unpacking.ts); one whose account has no room has another turn (passing.ts).
 */
import { MAX_MEMBERS } from '../../../../src/delivery/retry/bundle.js';
import { DEFERRALS, deferralFor } from '../../../../src/delivery/retry/retry-schedule.js';
import { type Wait, waitFor, waitOnGrid } from '../../../../src/delivery/retry/waiting.js';
import type { Processor } from './processor.js';

const PARTITIONS = 12;
const TIERS = DEFERRALS.map((deferral) => ({ ...deferral, topic: deferral.text }));
const GATHER_MS = 25;
const MEMBERS_PER_SLICE = 40;
const SLICE_MS = 8;

export interface Deferral {
  readonly accountId: number;
  readonly endpoint: string;
  readonly isUrgent: boolean;
  readonly pausedMs: number;
  readonly turnMs: number;
  /** The endpoint takes nothing since so many ms; null: it does. */
  readonly awayMs: number | null;
}

interface Bundle {
  readonly accountId: number;
  readonly members: (() => void)[];
  /** Resolved when it is durable. */
  readonly durable: Promise<void>;
}

interface TierParts {
  readonly mayContinue: (accountId: number) => boolean;
  readonly processor: Processor;
  readonly now: () => number;
  /** Of the clock. */
  readonly after: (ms: number, passed: () => void) => void;
  /** What a record costs, whatever is in it: it is written, read and parsed. */
  readonly recordMs: number;
  /** Of bundles that wait to be unpacked: members of all accounts together. */
  readonly maxQueued: number;
}

export class Tiers {
  readonly #parts: TierParts;
  readonly #gathered = new Map<string, Bundle>();
  /** By tier and partition: a record is not read before those in front of it. */
  readonly #blockedUntil = new Map<string, number>();
  readonly #queued = new Map<number, Bundle[]>();
  #left = MEMBERS_PER_SLICE;
  #isTimed = false;

  constructor(parts: TierParts) {
    this.#parts = parts;
  }

  /** Of a failed attempt: alone. @param unpacked called when it is consumed again */
  retry(accountId: number, ms: number, unpacked: () => void): void {
    this.#publish(
      { accountId, members: [unpacked], durable: Promise.resolve() },
      waitFor(TIERS, ms, this.#parts.now()),
    );
  }

  /** @returns fulfilled when it is durable */
  defer(deferral: Deferral, unpacked: () => void): Promise<void> {
    const { accountId, endpoint, isUrgent, pausedMs, turnMs } = deferral;
    const shift = (accountId * 0.618_033_988_75) % 1;
    const until = pausedMs > 0 ? 'pause' : turnMs > 0 ? 'turn' : 'any';
    const wait = waitOnGrid(TIERS, msOf(deferral), { now: this.#parts.now(), shift, until });
    const key = `${endpoint} ${isUrgent} ${wait.due} ${wait.moreMs}`;
    const bundle = this.#gathered.get(key) ?? this.#begin(key, accountId, wait);
    bundle.members.push(unpacked);
    if (bundle.members.length >= MAX_MEMBERS) this.#gathered.delete(key);
    return bundle.durable;
  }

  #begin(key: string, accountId: number, wait: Wait): Bundle {
    const durable = new Promise<void>((resolve) => this.#parts.after(GATHER_MS, resolve));
    const bundle: Bundle = { accountId, members: [], durable };
    this.#gathered.set(key, bundle);
    void durable.then(() => {
      if (this.#gathered.get(key) === bundle) this.#gathered.delete(key);
      this.#publish(bundle, wait);
    });
    return bundle;
  }

  #publish(bundle: Bundle, { tier, due, moreMs }: Wait): void {
    const { now, after, processor, recordMs } = this.#parts;
    const place = `${tier.topic} ${bundle.accountId % PARTITIONS}`;
    const readAt = Math.max(due, this.#blockedUntil.get(place) ?? 0);
    this.#blockedUntil.set(place, readAt);
    processor.works(recordMs);
    after(readAt - now() + processor.lateMs(), () => {
      const leftMs = moreMs - Math.max(0, now() - due);
      if (moreMs > 0 && leftMs > 0) this.#publish(bundle, waitFor(TIERS, leftMs, now()));
      else if (this.#hasRoom(bundle.accountId)) this.#unpack(bundle);
      else this.#publish(bundle, waitFor(TIERS, tier.ms, now()));
    });
  }

  #hasRoom(accountId: number): boolean {
    const queued = this.#queued.get(accountId) ?? [];
    const members = queued.reduce((sum, bundle) => sum + bundle.members.length, 0);
    return queued.length === 0 || members < this.#parts.maxQueued / this.#queued.size;
  }

  #unpack(bundle: Bundle): void {
    const queued = this.#queued.get(bundle.accountId);
    if (queued) queued.push(bundle);
    else this.#queued.set(bundle.accountId, [bundle]);
    this.#handOver();
  }

  #handOver(): void {
    while (this.#left > 0 && this.#handOverOne()) this.#left -= 1;
    if (this.#isTimed || (this.#left === MEMBERS_PER_SLICE && this.#queued.size === 0)) return;
    this.#isTimed = true;
    this.#parts.after(SLICE_MS + this.#parts.processor.lateMs(), () => {
      this.#isTimed = false;
      this.#left = MEMBERS_PER_SLICE;
      this.#handOver();
    });
  }

  #handOverOne(): boolean {
    for (const [accountId, bundles] of this.#queued) {
      if (!this.#parts.mayContinue(accountId)) continue;
      this.#queued.delete(accountId);
      bundles[0]?.members.shift()?.();
      if (bundles[0]?.members.length === 0) bundles.shift();
      if (bundles.length > 0) this.#queued.set(accountId, bundles);
      return true;
    }
    return false;
  }
}

/** As next-step.ts says. */
function msOf({ pausedMs, turnMs, awayMs }: Deferral): number {
  if (pausedMs > 0 || turnMs > 0) return Math.ceil(Math.max(pausedMs, turnMs));
  return awayMs === null ? DEFERRALS[0].ms : deferralFor(awayMs).ms;
}
