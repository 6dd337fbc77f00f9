/** Deliveries that enter a gate, and the current state of each. */
import { CircuitBreakers, type EndpointSignal } from '../../src/delivery/isolation/circuit-breaker.js';
import type { Entered, Refused } from '../../src/delivery/isolation/endpoint.js';
import type { EndpointGate, GateParts } from '../../src/delivery/isolation/endpoint-gate.js';
import { testGate } from './test-gate.js';
import { VirtualClock } from './virtual-clock.js';

export class GateVisitors {
  readonly #gate: EndpointGate;
  /** Keys, in order of entry. */
  readonly entered: string[] = [];
  readonly refused: (Refused & { readonly key: string })[] = [];
  readonly inside: (Entered & { readonly key: string })[] = [];

  constructor(gate: EndpointGate) {
    this.#gate = gate;
  }

  /** @param key 7/a: to URL a of account 7; a: to URL a of account 1 */
  async come(key: string, times = 1, bytes = 0): Promise<void> {
    const accountId = Number(/^(\d+)\//.exec(key)?.[1] ?? 1);
    for (let n = 0; n < times; n += 1) {
      void this.#gate.enter(accountId, `https://shop.example.com/${key}`, { bytes }).then((entry) => {
        if (entry.kind === 'refused') return void this.refused.push({ ...entry, key });
        this.entered.push(key);
        const [ended, leave] = [(signal: EndpointSignal) => entry.ended(signal), () => entry.leave()];
        this.inside.push({ kind: 'entered', ended, leave, key });
      });
    }
    await settled();
  }

  /** The first delivery inside (of the given key, if any) ends with this signal and leaves. */
  async leave(signal: EndpointSignal = 'succeeded', key?: string): Promise<void> {
    const at = this.inside.findIndex((one) => key === undefined || one.key === key);
    const [one] = at === -1 ? [] : this.inside.splice(at, 1);
    if (!one) throw new Error(`nobody is inside${key ? ` of ${key}` : ''}`);
    one.ended(signal);
    one.leave();
    await settled();
  }

  /** One after the other, each with this signal. */
  async attempts(key: string, signal: EndpointSignal, times: number): Promise<void> {
    for (let n = 0; n < times; n += 1) {
      await this.come(key);
      await this.leave(signal, key);
    }
  }

  enteredOf(key: string): number {
    return this.entered.filter((one) => one === key).length;
  }

  why(): string[] {
    return this.refused.map(({ why }) => why);
  }
}

/** A gate with breakers, whose clock the test advances. */
export class GateScene {
  readonly clock = new VirtualClock();
  readonly gate: EndpointGate;
  readonly visitors: GateVisitors;

  constructor(parts: Partial<GateParts> = {}) {
    const { clock } = this;
    const breakers = new CircuitBreakers({ now: clock.now, random: () => 0 });
    this.gate = testGate({ total: 256, perEndpoint: 16, clock, breakers, ...parts });
    this.visitors = new GateVisitors(this.gate);
  }

  async goOn(ms: number): Promise<void> {
    await this.clock.goOn(ms);
    await settled();
  }
}

/** Fulfilled after everything resolved so far has been reported. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
