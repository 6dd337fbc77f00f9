import { useLayoutEffect, useState } from 'preact/hooks';
import type { ListedDelivery } from '../api/shapes.js';

const NONE: ReadonlySet<string> = new Set();

/** Nobody resends what they do not see: what is selected is of this list, and still in it. @param list names it */
export function useSelection(list: string, deliveries: readonly ListedDelivery[]) {
  const [selected, choose] = useState(NONE);
  useLayoutEffect(() => choose(NONE), [list]);
  const ids = deliveries.map(({ id }) => id);
  const chosen: ReadonlySet<string> = new Set(ids.filter((id) => selected.has(id)));
  return { chosen, choose };
}
