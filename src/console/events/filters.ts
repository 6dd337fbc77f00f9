/** The filters of the Events screen, as they stand in the address. */
import { addressOf } from '../state/addresses.js';

const FILTERS = ['eventType', 'eventId', 'from', 'to'] as const;
const NAMES = [...FILTERS, 'before', 'tab'] as const;
/** Empty or absent: any. from and to are ISO times. */
export type EventFilterSet = { readonly [Name in (typeof NAMES)[number]]?: string | undefined };

export function filtersOf(query: Readonly<Record<string, string>>): EventFilterSet {
  return Object.fromEntries(NAMES.flatMap((name) => (query[name] ? [[name, query[name]]] : [])));
}

export const isFiltered = (filters: EventFilterSet) => FILTERS.some((name) => filters[name]);

export const eventsAddress = (filters: EventFilterSet) => addressOf('/events', filters);
