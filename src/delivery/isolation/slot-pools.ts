/** The pools of slots, and which of them an endpoint waits in: the more others rely on its attempts, the sooner they begin. */
import type { CpuMeter } from './cpu-meter.js';
import type { Account, Endpoint } from './endpoint.js';
import { HOLD_MS, type LoadOf, type SlotLimits, SlotPool } from './slots.js';

/** Of all slots, as many more are for failing endpoints: 320 attempts a second, whatever they do. */
const FAILING = 1 / 16;
/**
 * What attempts in slots may take of the thread, together: at most that, and of a smaller budget than START_MS as large a part.
 * First ones have what others do not use of the budget, and at least that. Of the failing ones' part they may take half: each
 * is made once, and until then its endpoint's deliveries wait for it.
 */
const DEAR_MS = 10;
const FAILING_MS = 30;
const FIRST_MS = 20;
/**
 * While first attempts wait, each of the two pools beyond the usual rate has at most this share of the budget and of the slots,
 * or the share that this many ms are: their endpoints had one. After a start nobody has a usual rate, so an endpoint's second
 * attempt would keep others from their first. Those of `untried` do not count: alongside 400 hostile accounts they wait for 20 s,
 * and a new healthy account would wait as long.
 */
const ALONGSIDE_FIRST = { share: 1 / 8, ms: 5 };

/**
 * Within HOLD_MS, or within a turn of the event loop if that takes longer: then slots are freed once in a turn. Where other work
 * fills the thread, a turn takes as much longer as attempts begin in it. In the first 10 s beside 400 hostile accounts, a payment
 * waited 268 ms (p99) until it was taken with 30 ms at least, and 77 ms with 10.
 */
const LEAST_MS = 10;
const START_MS = 30;
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
  ms = START_MS;
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

/** Attempts in flight, a ms of the thread counted as one. */
const byUse: LoadOf = (account, now) => account.inFlight + account.usedMs(now);
/** What an account's other URLs take does not keep it from trying a new one. */
const byUnproven: LoadOf = ({ unproven }) => unproven;

interface SlotPoolsParts {
  readonly slots: number;
  readonly meter: Pick<CpuMeter, 'firstMs'>;
  /** Idle connections to the URL. */
  readonly idleTo: (url: string) => number;
  /** Whether the account has room for an attempt of that pool. */
  readonly mayBegin: (account: Account, pool: SlotPool) => boolean;
}

/** Pools that share limits. Of what is free, one that is asked earlier has what it needs. */
function sharing(limits: () => SlotLimits, loadOf: LoadOf) {
  const pools: SlotPool[] = [];
  /** @param most of the limits, for this pool */
  return (most = () => 1): SlotPool => {
    const pool: SlotPool = new SlotPool(() => {
      const { slots, ms } = limits();
      const others = pools.filter((other) => other !== pool);
      const held = others.reduce((sum, other) => sum + other.held, 0);
      return { slots: Math.min(slots - held, most() * slots), ms: Math.min(ms - costOf(others), most() * ms) };
    }, loadOf);
    pools.push(pool);
    return pool;
  };
}

const costOf = (pools: readonly SlotPool[]) => pools.reduce((sum, { costMs }) => sum + costMs, 0);

export class SlotPools {
  readonly #idleTo: SlotPoolsParts['idleTo'];
  readonly #budget = new CpuBudget();
  readonly #usual: SlotPool;
  /** Beyond an endpoint's usual rate: without a handshake, and with one. */
  readonly #connected: SlotPool;
  readonly #beyond: SlotPool;
  /** First attempts: of accounts with a cheap endpoint that keeps its connection, of accounts that had none, and of all others. */
  readonly #vouched: SlotPool;
  readonly #newcomers: SlotPool;
  readonly #untried: SlotPool;
  /** Dear, as it seems, but with a connection at hand: a handshake, or other work of the thread, may have made it look so. */
  readonly #doubtful: SlotPool;
  readonly #dear: SlotPool;
  readonly #failing: SlotPool;
  /** In the order in which they are asked. */
  readonly all: readonly SlotPool[];
  /** Nothing is known in favor of their endpoints. */
  readonly #unproven: ReadonlySet<object | null>;
  /** Within the budget of the thread. */
  readonly #budgeted: readonly SlotPool[];

  constructor({ slots, meter, idleTo, mayBegin }: SlotPoolsParts) {
    const budget = this.#budget;
    this.#idleTo = idleTo;
    const atMost = (ms: number) => ms * Math.min(1, budget.ms / START_MS);
    this.#usual = new SlotPool(() => ({ slots, ms: Number.POSITIVE_INFINITY }), byUse);
    const promising = () => [this.#vouched, this.#newcomers];
    const isFirstAwaited = () => promising().some((pool) => pool.isAwaitedBy((account) => mayBegin(account, pool)));
    const alongsideFirst = () => Math.min(1, Math.max(ALONGSIDE_FIRST.share, ALONGSIDE_FIRST.ms / budget.ms));
    const most = () => (isFirstAwaited() ? alongsideFirst() : 1);
    const ofBudget = sharing(() => ({ slots, ms: budget.ms }), byUse);
    [this.#connected, this.#beyond] = [ofBudget(most), ofBudget(most)];
    const unused = () => budget.ms - this.#connected.costMs - this.#beyond.costMs - meter.firstMs;
    const forFirst = () => Math.max(atMost(FIRST_MS), unused());
    const ofFirst = sharing(() => ({ slots, ms: forFirst() }), byUnproven);
    const othersWait = () => this.#newcomers.isAwaited || this.#untried.isAwaited;
    this.#vouched = ofFirst(() => (othersWait() ? 1 / 2 : 1));
    [this.#newcomers, this.#untried] = [ofFirst(), ofFirst()];
    const first = [this.#vouched, this.#newcomers, this.#untried];
    const ofDear = sharing(() => ({ slots, ms: atMost(DEAR_MS) }), byUse);
    [this.#doubtful, this.#dear] = [ofDear(), ofDear()];
    const failing = Math.max(1, Math.floor(slots * FAILING));
    const forFailing = () => atMost(Math.max(FAILING_MS / 2, FAILING_MS - costOf(first)));
    this.#failing = new SlotPool(() => ({ slots: failing, ms: forFailing() }), byUnproven);
    this.#unproven = new Set([...first, this.#failing]);
    this.#budgeted = [this.#connected, this.#beyond, ...first];
    this.all = [this.#usual, ...this.#budgeted, this.#doubtful, this.#dear, this.#failing];
  }

  poolOf(endpoint: Endpoint, now: number): SlotPool {
    const { pace, account } = endpoint;
    if (pace.isUntried) return this.#firstOf(account);
    if (!pace.isProven) return this.#failing;
    if (pace.isCheap && pace.isUsual(now)) return this.#usual;
    const isConnected = this.isConnected(endpoint, now);
    if (pace.isCheap) return isConnected ? this.#connected : this.#beyond;
    return isConnected && pace.seemsCheap ? this.#doubtful : this.#dear;
  }

  /** What a hostile account's other URLs gain by a good one is one attempt each, sooner. */
  #firstOf({ isVouched, triedAt }: Account): SlotPool {
    if (isVouched) return this.#vouched;
    return triedAt === null ? this.#newcomers : this.#untried;
  }

  /** Whether its next attempt needs no handshake. Those that have just begun have yet to take an idle connection. */
  isConnected(endpoint: Endpoint, now: number): boolean {
    return endpoint.begunJust(now) < this.#idleTo(endpoint.url);
  }

  /** Whether nothing is known in favor of its endpoints: a failure keeps its slot, and few of an account's may be slow. */
  isUnproven(pool: object | null): boolean {
    return this.#unproven.has(pool);
  }

  /** An attempt has held its slot for HOLD_MS, or longer if the event loop is late. */
  held(beganAt: number, now: number): void {
    const isUsed = this.#budgeted.some((pool) => pool.isAwaited);
    this.#budget.held(beganAt, now, isUsed);
  }

  /** Whether attempts of endpoints that are healthy or untried wait for slots, not for their account's slow attempts. */
  get areShort(): boolean {
    return [this.#usual, ...this.#budgeted].some((pool) => pool.isAwaited && !pool.canGive);
  }
}
