/**
 * Queries in steps. A step touches a bounded number of rows; at each yield the view's thread may answer other accounts and
 * store records. So what is carried from one step to the next is a cursor or a value, and a row number only if the rows are
 * checked again: by then the row may be another one's.
 */
import type { Steps } from '../../../ports/deliveries-view.js';

/** Rows that a step examines: about 5 ms. */
const ROWS_PER_STEP = 500;
/** Rows of a page that a step shows: each is read from several tables. */
const SHOWN_PER_STEP = 50;
/** Rows that a page examines without showing them: 2,000 with the 200 that it may show. */
const MAX_SKIPPED = 1_800;

interface Examined {
  readonly isShown: number;
}

export interface Page<Row, Shown> {
  readonly shown: readonly Shown[];
  /** The last row that was examined; null: there are none. */
  readonly last: Row | null;
  /** There are rows behind it. */
  readonly more: boolean;
}

/**
 * A page of the rows that a filter leaves.
 * @param rowsAfter a statement's rows behind the given one; null: from the page's beginning
 * @param view called in the step that has read the row
 */
export function* pageOf<Row extends Examined, Shown>(
  rowsAfter: (last: Row | null) => Iterable<Row>,
  limit: number,
  view: (row: Row) => Shown,
): Steps<Page<Row, Shown>> {
  const shown: Shown[] = [];
  let last: Row | null = null;
  for (let skipped = 0; ; ) {
    const room = { shown: limit - shown.length, skipped: MAX_SKIPPED - skipped };
    const step: Step<Row> = examined(rowsAfter(last), room, SHOWN_PER_STEP);
    shown.push(...step.shown.map(view));
    skipped += step.skipped;
    last = step.last ?? last;
    if (step.end !== 'step') return { shown, last, more: step.end === 'page' };
    yield;
  }
}

/** All rows that a filter leaves, some at a time. */
export function* eachShown<Row extends Examined>(
  rowsAfter: (last: Row | null) => Iterable<Row>,
  use: (rows: readonly Row[]) => void,
): Steps<void> {
  for (let last: Row | null = null; ; ) {
    const room = { shown: ROWS_PER_STEP, skipped: ROWS_PER_STEP };
    const step: Step<Row> = examined(rowsAfter(last), room, ROWS_PER_STEP);
    use(step.shown);
    last = step.last;
    if (step.end === 'rows') return;
    yield;
  }
}

interface Step<Row> {
  readonly shown: readonly Row[];
  readonly skipped: number;
  readonly last: Row | null;
  /** What ended it: the rows, the room for more, or the step's own bound. */
  readonly end: 'rows' | 'page' | 'step';
}

function examined<Row extends Examined>(
  rows: Iterable<Row>,
  most: { readonly shown: number; readonly skipped: number },
  shownPerStep: number,
): Step<Row> {
  const shown: Row[] = [];
  let [skipped, last] = [0, null as Row | null];
  for (const row of rows) {
    const isFull = skipped === most.skipped || (row.isShown && shown.length === most.shown);
    if (isFull) return { shown, skipped, last, end: 'page' };
    if (shown.length === shownPerStep || shown.length + skipped === ROWS_PER_STEP)
      return { shown, skipped, last, end: 'step' };
    if (row.isShown) shown.push(row);
    else skipped += 1;
    last = row;
  }
  return { shown, skipped, last, end: 'rows' };
}
