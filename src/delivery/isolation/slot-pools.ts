/** The pools of slots, and which of them an endpoint waits in: the more others rely on its attempts, the sooner they begin. */
import type { CpuMeter } from './cpu-meter.js';
import type { Endpoint } from './endpoint.js';
import { HOLD_MS, SlotPool } from './slots.js';

/** Of all slots, as many more are for failing endpoints: 320 attempts a second, whatever they do. */
const FAILING = 1 / 16;
/** What dear attempts in slots may take of the thread, together, and failing ones. Nobody waits longer for it. */
const DEAR_MS = 10;
const FAILING_MS = 30;
/** Untried ones have what the others do not use of the budget, and at least that. */
const UNTRIED_MS = 15;

/** Within HOLD_MS. With this much, other attempts are late by 30 ms at most. */
const LEAST_MS = 30;
/** More than fits into HOLD_MS: the thread is then busy without a break, and others are late by so much at most. */
const MOST_MS = 200;
/** More for each HOLD_MS without delay. */
const MORE_MS = 5;
const LATE_MS = 30;

/**
 * How much of the thread attempts may take that nobody relies on: first ones, and those beyond their endpoint's usual rate. Each
 * may need a connection, 1.5 ms. They get all of the thread that is free, and not more: the event loop's delay tells whether it is.
 */
export class CpuBudget {
  /** What the attempts in their slots are expected to take, together. */
  ms = LEAST_MS;
  #halvedAt = Number.NEGATIVE_INFINITY;
  #raisedAt = 0;

  /**
   * An attempt's slot was to be free after HOLD_MS: additive increase, multiplicative decrease.
   * @param isUsed whether an attempt waits for the budget: an idle process learns nothing
   */
  held(beganAt: number, now: number, isUsed: boolean): void {
    const isLate = now - beganAt - HOLD_MS > LATE_MS;
    if (!isLate && isUsed && beganAt >= this.#raisedAt) {
      this.ms = Math.min(MOST_MS, this.ms + MORE_MS);
      this.#raisedAt = now;
    }
    if (isLate && beganAt >= this.#halvedAt) {
      this.ms = Math.max(LEAST_MS, this.ms / 2);
      this.#halvedAt = now;
    }
  }
}

export class SlotPools {
  readonly #budget = new CpuBudget();
  readonly #usual: SlotPool;
  readonly #beyond: SlotPool;
  readonly #untried: SlotPool;
  readonly #dear: SlotPool;
  readonly #failing: SlotPool;
  /** In the order in which they are asked. */
  readonly all: readonly SlotPool[];

  constructor(slots: number, meter: Pick<CpuMeter, 'firstMs'>) {
    const budget = this.#budget;
    const failing = { slots: Math.max(1, Math.floor(slots * FAILING)), ms: FAILING_MS };
    this.#usual = new SlotPool(() => ({ slots, ms: Number.POSITIVE_INFINITY }));
    this.#beyond = new SlotPool(() => ({ slots, ms: budget.ms }));
    const forUntried = () => Math.max(UNTRIED_MS, budget.ms - this.#beyond.costMs - meter.firstMs);
    this.#untried = new SlotPool(() => ({ slots, ms: forUntried() }));
    this.#dear = new SlotPool(() => ({ slots, ms: DEAR_MS }));
    this.#failing = new SlotPool(() => failing);
    this.all = [this.#usual, this.#beyond, this.#untried, this.#dear, this.#failing];
  }

  poolOf({ pace }: Endpoint, now: number): SlotPool {
    if (pace.isUntried) return this.#untried;
    if (!pace.isProven) return this.#failing;
    if (!pace.isCheap) return this.#dear;
    return pace.isUsual(now) ? this.#usual : this.#beyond;
  }

  /** Whether nothing is known in favor of its endpoints: a failure keeps its slot, and few of an account's may be slow. */
  isUnproven(pool: object | null): boolean {
    return pool === this.#untried || pool === this.#failing;
  }

  /** An attempt has held its slot for HOLD_MS, or longer if the event loop is late. */
  held(beganAt: number, now: number): void {
    this.#budget.held(beganAt, now, this.#beyond.isAwaited || this.#untried.isAwaited);
  }
}
