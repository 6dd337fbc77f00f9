/** Views of deliveries, and projection states, that each violate one sentence of the contract, and the cases that must see it. */
import type { ProjectionStates } from '../../../src/ports/projection-states.js';
import { ACCOUNT } from '../../support/generators/delivery-samples.js';
import type { AskedCore } from '../../support/scenes/deliveries-view-subject.js';
import type { Breaking, Broken } from './event-stores.js';

type Added = Parameters<AskedCore['add']>[0];

/** Only `add` is wrong: other entries are added. */
function adding(change: (entries: Added) => Added): Breaking<AskedCore> {
  return (inner) => ({ add: (entries, reached) => inner.add(change(entries), reached) });
}

let arrived = 0;

export const BROKEN_VIEWS: readonly Broken<AskedCore>[] = [
  [
    'believes the entry that came last',
    adding((entries) => entries.map((one) => (one.kind === 'delivery' ? { ...one, chain: ++arrived } : one))),
    'all answers depend on which entries were added, not on their order or repetition',
  ],
  [
    'keeps all accounts as one',
    adding((entries) => entries.map((one) => ({ ...one, accountId: ACCOUNT }))),
    'those of all webhooks of an account are in one order, and of no other account',
    'only one event, of any age, over all webhooks; an id that another account has as well',
  ],
  [
    'stores entry by entry',
    (inner) => ({ add: (entries) => entries.forEach((one) => void inner.add([one])) }),
    'add stores all of its entries or, where it throws, none',
  ],
  [
    'begins a page with the last row of the one before',
    (inner) => ({
      page(query) {
        const { next, ...page } = inner.page(query);
        const last = page.deliveries.at(-2);
        return { ...page, next: next && last ? { ...next, ...last, tie: last.id } : next };
      },
    }),
    'pages of any size give every delivery once, and the last of them has no next',
    'a page goes on at the same place whatever has come since',
  ],
];

export const BROKEN_STATES: readonly Broken<ProjectionStates>[] = [
  [
    'ignores the version',
    (inner) => ({ open: (of) => inner.open({ ...of, version: 'any' }) }),
    'open with another version forgets states, keys, what is set aside, and position',
  ],
  [
    'commits in two parts',
    (inner) => ({
      commit(changes) {
        inner.commit({ ...changes, states: new Map() });
        inner.commit(changes);
      },
    }),
    'commit is one transaction: where a part of it fails nothing is stored',
  ],
];
