/** The projections that a server brings along. Those of categories read what $by_category links. */
import type { StoredProjection } from './stored-data.js';

export const BY_CATEGORY = '$by_category';

const STANDARD = [BY_CATEGORY, '$by_event_type', '$by_correlation_id', '$stream_by_category', '$streams'];

/** Running, as with --start-standard-projections. */
export function standardProjections(): Map<string, StoredProjection> {
  return new Map(STANDARD.map((name) => [name, newProjection('')]));
}

export function newProjection(source: string): StoredProjection {
  return { source, enabled: true, fault: null, seen: 0, epoch: 0, states: new Map() };
}

export function isStandard(name: string): boolean {
  return name.startsWith('$');
}
