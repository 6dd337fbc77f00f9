/** Chains of requests that each violate one sentence of the contract, and the cases that must see it. */
import type { RequestChains, RequestedChain } from '../../../src/ports/request-chains.js';
import type { Breaking, Broken } from './event-stores.js';

/** Only `add` is wrong: other chains are added. */
function adding(change: (one: RequestedChain) => RequestedChain): Breaking<RequestChains> {
  return (inner) => ({ add: (chains, position) => inner.add(chains.map(change), position) });
}

let added = 0;

export const BROKEN_CHAINS: readonly Broken<RequestChains>[] = [
  [
    'stores the chain that was added last',
    (inner) => ({
      add: (chains, position) =>
        inner.add(
          chains.map((one) => ({ ...one, chain: ++added })),
          position,
        ),
      latest: (delivery, payment) => (inner.latest(delivery, payment) > 0 ? added : 0),
    }),
    'of two chains of a delivery the later one is stored, in whatever order they are added',
  ],
  [
    'takes all publications of an event for one delivery',
    (inner) => ({
      add: (chains, position) =>
        inner.add(
          chains.map((one) => ({ ...one, payment: null })),
          position,
        ),
      latest: (delivery) => inner.latest(delivery, null),
    }),
    'a chain belongs to one delivery of one record: another publication is another delivery',
  ],
  [
    'forgets requests that name no record position',
    (inner) => ({ latest: (delivery, payment) => (payment?.includes('/') ? inner.latest(delivery, payment) : 0) }),
    'a payment may be null',
    'a payment may be "not a position"',
  ],
  [
    'stores the position before the chains',
    (inner) => ({
      add(chains, position) {
        inner.add([], position);
        inner.add(chains, null);
      },
    }),
    'add stores chains and position in one transaction: if a part fails, nothing is stored',
  ],
  [
    'stores chain by chain',
    (inner) => ({
      add(chains, position) {
        for (const one of chains) inner.add([one], null);
        inner.add([], position);
      },
    }),
    'add stores chains and position in one transaction: if a part fails, nothing is stored',
  ],
  [
    'keeps the chains of every origin',
    (inner) => ({ open: () => inner.open('any') }),
    'open keeps what was read from this origin, and empties what was read from another',
  ],
  [
    'keeps the position when it is cleared',
    (inner) => {
      let reached: ReturnType<() => RequestChains['position']> = null;
      return {
        clear() {
          reached = inner.position;
          inner.clear();
        },
        open(origin) {
          inner.open(origin);
          if (reached) inner.add([], reached);
        },
      };
    },
    'a method that finds damage throws RequestChainsDamaged; after clear they are empty, and store again',
  ],
  [
    'prunes by time alone',
    (inner) => ({ prune: (limit, { at }) => inner.prune(limit, { chain: Number.MAX_SAFE_INTEGER, at }) }),
    'prune deletes the lowest chains first, up to the limit',
    'prune leaves a delivery whose latest chain is higher',
  ],
  [
    'prunes whatever the time',
    (inner) => ({ prune: (limit, { chain }) => inner.prune(limit, { chain, at: Number.POSITIVE_INFINITY }) }),
    'prune leaves chains that were requested at the given time or later',
  ],
  [
    'hides damage',
    (inner) => ({
      latest(delivery, payment) {
        try {
          return inner.latest(delivery, payment);
        } catch {
          return 0;
        }
      },
    }),
    'a method that finds damage throws RequestChainsDamaged; after clear they are empty, and store again',
  ],
  [
    'loses a thousandth of the chains',
    adding((one) => (one.chain % 1_000 === 0 ? { ...one, delivery: 'lost' } : one)),
    'any number of chains is found, and nothing else, before and after a reopening',
  ],
];
