/** The filters of Payments, as they stand in the address, and what the service is asked for by them. */
import type { ParamsOf, Payment } from '../api/shapes.js';
import { addressOf } from '../state/addresses.js';

export const PERIODS = { hour: 3_600_000, day: 86_400_000, week: 604_800_000 } as const;
export const ARRIVED = ['nowhere', 'part', 'nobody', 'all'] as const satisfies readonly Payment['arrived'][];
export const STATUSES = ['2xx', '3xx', '4xx', '5xx', 'none'] as const;
/** All types of notices of the special return mechanism: the service is asked for one type or all, so the page chooses. */
export const MED = 'med';
const MED_TYPES = ['med_created', 'med_accepted', 'med_rejected'] as const;

const FILTERS = ['eventType', 'arrived', 'url', 'status', 'error', 'period', 'from', 'to'] as const;
/** Empty or absent: any. from and to are ISO times. before: of a page. */
export type Filters = { readonly [Name in (typeof FILTERS)[number] | 'before']?: string | undefined };

export function filtersOf(query: Readonly<Record<string, string>>): Filters {
  const known = [...FILTERS, 'before'] as const;
  return Object.fromEntries(known.flatMap((name) => (query[name] ? [[name, query[name]]] : [])));
}

export const isFiltered = (filters: Filters) => FILTERS.some((name) => filters[name]);

/** A change of a filter leads to the first page. */
export const paymentsAddress = (filters: Filters, change: Filters = {}) =>
  addressOf('/payments', { ...filters, before: undefined, ...change });

type Asked = NonNullable<ParamsOf<'/api/events'>['query']>;

/** @param now ms since the epoch: a period ends there, and moves on by the minute */
export function askedOf({ period, eventType, ...filters }: Filters, now: number, limit: number): Asked {
  const from = period && Object.hasOwn(PERIODS, period) ? fromOf(period as keyof typeof PERIODS, now) : undefined;
  const type = eventType === MED ? undefined : eventType;
  // What stands in an address is anybody's text: the service says what is wrong with it.
  return { limit, ...(filters as object), ...(type && { eventType: type }), ...(from && { from }) } as Asked;
}

function fromOf(period: keyof typeof PERIODS, now: number): string {
  const minute = Math.floor(now / 60_000) * 60_000;
  return new Date(minute - PERIODS[period]).toISOString();
}

/** What the service could not be asked for. */
export const isShown = ({ eventType }: Filters, payment: Pick<Payment, 'eventType'>) =>
  eventType !== MED || MED_TYPES.some((type) => type === payment.eventType);
