/** What the cases of the deliveries view have in common. */
import type { DeliveriesQuery, ListPlace, ViewEntry } from '../../../src/ports/deliveries-view.js';
import { NOW } from '../../support/generators/delivery-samples.js';
import { type AskedCore, attempt, entry, type Of, query } from '../../support/scenes/deliveries-view-subject.js';
import type { ContractCase, Feature, Subject } from '../contract.js';

export type ViewSubject = Subject<AskedCore>;
export type ViewCase = ContractCase<ViewSubject>;

export function viewCase(name: string, act: (subject: ViewSubject) => Promise<void> | void, needs?: Feature): ViewCase {
  const run = async (subject: ViewSubject) => act(subject);
  return needs ? { name, needs, run } : { name, run };
}

/** Those that a page shows. */
export function ids(view: AskedCore, changes: Partial<Of<DeliveriesQuery>> = {}): string[] {
  return view.page(query(changes)).deliveries.map(({ id }) => id);
}

export function idsOf(...numbers: readonly number[]): string[] {
  return numbers.map((n) => entry(n).id);
}

const EXPIRED = {
  ...{ status: null, error: 'tls', reason: 'certificate-expired' },
  expiredCertificate: { name: 'Issuing authority', expiredAt: null },
};

/** One delivery: deferred, two attempts that failed, one that did not. */
export function story(id: string): ViewEntry[] {
  const of = (n: number, changes: Partial<ViewEntry>) =>
    entry(n, { id, eventId: 'pay', firstAt: NOW, outcome: 'retrying', ...changes });
  return [
    of(10, { attempts: 0, attempt: null, waitingFor: 'endpoint-failing' }),
    of(20, { attempts: 1, attempt: attempt(15, { status: 503 }), nextAttemptAt: '2026-11-21T09:00:02.000Z' }),
    of(30, {
      attempts: 2,
      attempt: attempt(25, EXPIRED),
      nextAttemptAt: '2026-11-21T09:00:03.000Z',
    }),
    of(40, { attempts: 3, attempt: attempt(35), outcome: 'delivered' }),
  ];
}

/** What they come to. */
export const told = (id: string) => ({
  id,
  outcome: 'delivered',
  attempts: [attempt(15, { status: 503 }), attempt(25, EXPIRED), attempt(35)],
  nextAttemptAt: null,
  waitingFor: null,
});

/** Every page of that many, one after the other; `between` is called after each. */
export function walked(
  view: AskedCore,
  limit: number,
  between: () => void = () => undefined,
  only: Partial<Of<DeliveriesQuery>> = {},
): string[] {
  const all: string[] = [];
  let before: ListPlace | null = null;
  do {
    const page = view.page(query({ limit, before, ...only }));
    expect(page.deliveries.length).toBeLessThanOrEqual(limit);
    all.push(...page.deliveries.map(({ id }) => id));
    expect(all.length).toBeLessThan(20_000);
    before = page.next;
    between();
  } while (before);
  return all;
}
