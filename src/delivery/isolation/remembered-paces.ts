/** How idle endpoints fared: of the quick ones the last, and of all others the last, so that these push out none of those. */
import { LRUCache } from 'lru-cache';
import type { EndpointKey } from './endpoint-key.js';
import type { EndpointPace } from './endpoint-pace.js';

/** Of each of the two. */
const REMEMBERED = 10_000;

export class RememberedPaces {
  readonly #quick = new LRUCache<EndpointKey, EndpointPace>({ max: REMEMBERED });
  readonly #others = new LRUCache<EndpointKey, EndpointPace>({ max: REMEMBERED });

  keep(key: EndpointKey, pace: EndpointPace): void {
    (pace.isQuick ? this.#quick : this.#others).set(key, pace);
  }

  /** It is no longer idle. */
  take(key: EndpointKey): EndpointPace | undefined {
    const pace = this.#quick.get(key) ?? this.#others.get(key);
    this.#quick.delete(key);
    this.#others.delete(key);
    return pace;
  }
}
