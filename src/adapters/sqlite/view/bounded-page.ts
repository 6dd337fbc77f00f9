/** A page looks at a bounded number of rows. */

/** Rows that a page looks at and does not show. */
export const MOST_PASSED = 2_000;
/** Rows that are looked at for one event id or reference, which many payments may share: the newest. */
export const MOST_WITH_ID = 10_000;
export const OLDEST = Number.MIN_SAFE_INTEGER;
export const NEWEST = Number.MAX_SAFE_INTEGER;

/** next: the last row that was looked at; null if none is left. */
export function pageOf<Row>(rows: Iterable<Row>, limit: number, isAskedFor: (row: Row) => boolean) {
  const shown: Row[] = [];
  let passed = 0;
  let last: Row | null = null;
  for (const row of rows) {
    const isShown = isAskedFor(row);
    if (passed === MOST_PASSED || (isShown && shown.length === limit)) return { shown, next: last };
    if (isShown) shown.push(row);
    else passed += 1;
    last = row;
  }
  return { shown, next: null };
}
