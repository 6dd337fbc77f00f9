/** The filters of the Deliveries screen, as they stand in the address. */
import type { operations } from '../api/openapi.js';
import { addressOf } from '../state/addresses.js';

type Asked = NonNullable<operations['listAccountDeliveries']['parameters']['query']>;

export const PERIODS = { hour: 3_600_000, day: 86_400_000, week: 604_800_000 } as const;
type Period = keyof typeof PERIODS;

const FILTERS = ['outcome', 'eventType', 'webhookId', 'eventId', 'status', 'period'] as const;
/** Empty or absent: any. */
export type Filters = { readonly [Name in (typeof FILTERS)[number] | 'before']?: string | undefined };

export const OUTCOMES = ['retrying', 'exhausted', 'held', 'delivered', 'cancelled'] as const;

/** An outcome that does not exist, as one of another release or of a typing error, filters nothing. */
export function filtersOf(query: Readonly<Record<string, string>>): Filters {
  const known = [...FILTERS, 'before'] as const;
  return Object.fromEntries(known.flatMap((name) => (isSet(name, query[name]) ? [[name, query[name]]] : [])));
}

const isSet = (name: string, value: string | undefined) =>
  name === 'outcome' ? OUTCOMES.some((outcome) => outcome === value) : Boolean(value);

export const isFiltered = (filters: Filters) => FILTERS.some((name) => filters[name]);

/** A change of a filter leads to the first page. */
export function filteredAddress(filters: Filters, change: Filters = {}): string {
  return addressOf('/deliveries', { ...filters, before: undefined, ...change });
}

/** @param now ms since the epoch: a period ends there, and moves on by the minute */
export function askedOf({ period, outcome, ...filters }: Filters, now: number): Asked {
  const from = period && period in PERIODS ? fromOf(period as Period, now) : undefined;
  // What stands in an address is anybody's text: the service says what is wrong with it.
  return { limit: 50, ...(filters as object), ...outcomeOf(outcome), ...(from && { from }) } as Asked;
}

/** The page shows held deliveries apart from others that are exhausted. */
function outcomeOf(outcome: Filters['outcome']) {
  if (outcome === 'held') return { held: true };
  return outcome === 'exhausted' ? { outcome, held: false } : outcome && { outcome };
}

function fromOf(period: Period, now: number): string {
  const minute = Math.floor(now / 60_000) * 60_000;
  return new Date(minute - PERIODS[period]).toISOString();
}
