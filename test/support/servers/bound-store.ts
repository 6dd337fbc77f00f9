import type { EventStore } from '../../../src/ports/event-store.js';

/** The store as bound methods, which survive a spread. */
export function bound(store: EventStore): EventStore {
  return {
    append: (...args) => store.append(...args),
    read: (...args) => store.read(...args),
    subscribe: (...args) => store.subscribe(...args),
    endsWith: (...args) => store.endsWith(...args),
    head: () => store.head(),
    isAtOrAfter: (...args) => store.isAtOrAfter(...args),
    close: () => store.close(),
  };
}
