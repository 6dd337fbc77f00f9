import { useState } from 'preact/hooks';
import type { Payment } from '../api/shapes.js';
import { now } from '../state/now.js';
import { useGot } from '../state/polled.js';
import { askedOf, type Filters, isShown } from './filters.js';

const LIMIT = 50;
/** Each look reads a page of payloads from their topic. */
const EVERY_MS = 10_000;

interface Held {
  readonly list: string;
  readonly payments: readonly Payment[];
}

/**
 * A page of payments. Its rows stay where they are, with their outcomes up to date: `fresh` counts those that have come
 * since, and `showFresh` shows them.
 *
 * @param list names it
 */
export function usePayments(list: string, filters: Filters) {
  const page = useGot(
    '/api/events',
    { query: askedOf(filters, now.value, LIMIT) },
    { keepsLast: true, everyMs: EVERY_MS },
  );
  const [held, hold] = useState<Held | null>(null);
  const latest = page.isLast ? undefined : page.data?.events.filter((payment) => isShown(filters, payment));
  const isFirst = held?.list !== list || (held.payments.length === 0 && latest?.length !== 0);
  if (latest && isFirst) hold({ list, payments: latest });
  const rows = held?.list === list ? held.payments : latest;
  const current = new Map(latest?.map((payment) => [payment.cursor, payment]));
  const first = latest?.findIndex(({ cursor }) => rows?.some((row) => row.cursor === cursor)) ?? 0;
  return {
    page,
    rows: rows?.map((row) => current.get(row.cursor) ?? row),
    fresh: first < 0 ? (latest?.length ?? 0) : first,
    showFresh: () => latest && hold({ list, payments: latest }),
  };
}
