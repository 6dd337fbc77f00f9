/** Deliveries in a scheduler with breakers, whose clock and thread the test advances, and what became of each. */
import { CircuitBreakers, type EndpointSignal } from '../../../src/delivery/isolation/circuit-breaker.js';
import type { DeliveryScheduler, SchedulerParts } from '../../../src/delivery/isolation/delivery-scheduler.js';
import type { Acquired, AttemptEnd, Deferred, Queueing } from '../../../src/delivery/isolation/endpoint.js';
import { HOLD_MS } from '../../../src/delivery/isolation/slots.js';
import { testScheduler } from '../clocks/test-scheduler.js';
import { VirtualClock } from '../clocks/virtual-clock.js';

interface InFlight extends Pick<Acquired, 'isFailing' | 'ended' | 'leave'> {
  readonly key: string;
}

/** A key is 7/a, which is URL a of account 7, or a, which is URL a of account 1. */
export class SchedulerScene {
  readonly clock = new VirtualClock();
  readonly scheduler: DeliveryScheduler;
  /** Keys, in the order in which attempts began. */
  readonly began: string[] = [];
  readonly deferred: (Deferred & { readonly key: string })[] = [];
  readonly inFlight: InFlight[] = [];
  #busyMs = 0;

  constructor(parts: Partial<SchedulerParts> = {}) {
    const { clock } = this;
    const breakers = new CircuitBreakers({ now: clock.now, random: () => 0 });
    const busyMs = () => this.#busyMs;
    this.scheduler = testScheduler({ slots: 256, perEndpoint: 16, clock, breakers, busyMs, ...parts });
  }

  async goOn(ms: number): Promise<void> {
    await this.clock.goOn(ms);
    await settled();
  }

  /** The thread does something for so long; what comes next is charged with it. */
  work(ms: number): void {
    this.#busyMs += ms;
  }

  async come(key: string, times = 1, queueing: Partial<Queueing> = {}): Promise<void> {
    for (let n = 0; n < times; n += 1) {
      void this.scheduler.acquire(...endpointOf(key), { bytes: 0, ...queueing }).then((acquisition) => {
        if (acquisition.kind === 'deferred') return void this.deferred.push({ ...acquisition, key });
        this.began.push(key);
        const { isFailing } = acquisition;
        const ended = (end: AttemptEnd) => acquisition.ended(end);
        this.inFlight.push({ key, isFailing, ended, leave: () => acquisition.leave() });
      });
    }
    await settled();
  }

  /** Of the first attempt in flight, to that endpoint if one is named: it is in flight no longer. */
  async end(end: EndpointSignal | AttemptEnd = 'succeeded', key?: string): Promise<void> {
    const at = this.inFlight.findIndex((one) => key === undefined || one.key === key);
    const [one] = at === -1 ? [] : this.inFlight.splice(at, 1);
    if (!one) throw new Error(`nothing is in flight${key ? ` to ${key}` : ''}`);
    one.ended(typeof end === 'string' ? { signal: end } : end);
    one.leave();
    await settled();
  }

  /** One after the other. After what holds its slot on probation, so much time passes that it is free. */
  async attempts(key: string, end: EndpointSignal | AttemptEnd, times = 1, tookMs = 0): Promise<void> {
    for (let n = 0; n < times; n += 1) {
      await this.come(key);
      await this.clock.goOn(tookMs);
      await this.end(end, key);
      if (end !== 'succeeded' && tookMs < HOLD_MS) await this.goOn(HOLD_MS - tookMs);
    }
  }

  beganOf(key: string): number {
    return this.began.filter((one) => one === key).length;
  }

  inFlightOf(key: string): number {
    return this.inFlight.filter((one) => one.key === key).length;
  }

  why(): string[] {
    return this.deferred.map(({ why }) => why);
  }
}

export function endpointOf(key: string): [accountId: number, url: string] {
  const accountId = Number(/^(\d+)\//.exec(key)?.[1] ?? 1);
  return [accountId, `https://shop.example.com/${key}`];
}

/** Fulfilled after everything resolved so far has been reported. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
