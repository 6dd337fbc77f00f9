/** A page of rows, some of which are not asked for. */

/** Rows that are not asked for, for one page. */
export const MOST_PASSED = 2_000;

interface Asked<Row, Place> {
  readonly limit: number;
  isAskedFor(row: Row): boolean;
  placeOf(row: Row): Place;
}

/** next: the place of the last row that was read; null if none is left. */
export function pageOf<Row, Place>(rows: Iterable<Row>, { limit, isAskedFor, placeOf }: Asked<Row, Place>) {
  const shown: Row[] = [];
  let passed = 0;
  let last: Place | null = null;
  for (const row of rows) {
    const isShown = isAskedFor(row);
    if (passed === MOST_PASSED || (isShown && shown.length === limit)) return { shown, next: last };
    if (isShown) shown.push(row);
    else passed += 1;
    last = placeOf(row);
  }
  return { shown, next: null };
}
