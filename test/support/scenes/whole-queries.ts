/** Queries of a view's core, each run to its end. */
import type { SteppedQueries, Steps, ViewedAccount, ViewQueries } from '../../../src/ports/deliveries-view.js';

export function wholeQueries(
  core: { of(account: ViewedAccount): SteppedQueries },
  account: ViewedAccount,
): ViewQueries {
  const all = Object.keys(core.of(account)).map((name) => {
    const query = (...asked: readonly unknown[]) => {
      const steps = core.of(account)[name as keyof ViewQueries] as (...given: readonly unknown[]) => Steps<unknown>;
      return ended(steps(...asked));
    };
    return [name, query];
  });
  return Object.fromEntries(all);
}

export function ended<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
