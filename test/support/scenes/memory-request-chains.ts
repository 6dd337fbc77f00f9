/** The chains of requests in memory, with the contract of the durable ones. */
import type { Position } from '../../../src/ports/broker.js';
import type { RequestChains, RequestedChain } from '../../../src/ports/request-chains.js';

export class MemoryRequestChains implements RequestChains {
  readonly #chains = new Map<string, RequestedChain>();
  #origin: string | null = null;
  position: Position | null = null;
  trouble: string | null = null;

  open(origin: string): void {
    if (this.#origin !== origin) this.clear();
    this.#origin = origin;
  }

  latest(delivery: string, payment: string | null): number {
    return this.#chains.get(`${delivery} ${payment}`)?.chain ?? 0;
  }

  add(chains: readonly RequestedChain[], position: Position | null): void {
    const unstorable = chains.find(({ chain, at }) => !Number.isFinite(chain) || !Number.isFinite(at));
    if (unstorable) throw new TypeError('a chain has no number or no time');
    for (const one of chains) {
      if (one.chain > this.latest(one.delivery, one.payment)) this.#chains.set(`${one.delivery} ${one.payment}`, one);
    }
    if (position) this.position = position;
  }

  get lowest(): number | null {
    return this.#chains.size === 0 ? null : Math.min(...[...this.#chains.values()].map(({ chain }) => chain));
  }

  prune(limit: number, upTo: { readonly chain: number; readonly at: number }): number {
    const old = [...this.#chains].filter(([, { chain, at }]) => chain <= upTo.chain && at < upTo.at);
    const pruned = old.toSorted(([, one], [, other]) => one.chain - other.chain).slice(0, limit);
    for (const [key] of pruned) this.#chains.delete(key);
    return pruned.length;
  }

  clear(): void {
    this.#chains.clear();
    this.position = null;
  }

  close(): void {}
}
