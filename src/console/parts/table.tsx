/** Lists: their columns, blocks on a phone, what is selected, and why one is empty or not there yet. Once, for all. */
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../icons/icon.js';
import type { Polled } from '../state/polled.js';
import { texts } from '../texts/texts.js';
import { Skeleton, staleness } from './screen-head.js';

export interface Column<Row> {
  /** '': none is shown. */
  readonly name: string;
  /** On a phone, lead stands at the top of a row's block, others below with their names. end: numbers. */
  readonly place?: 'lead' | 'end';
  readonly cell: (row: Row) => ComponentChildren;
}

interface Selection {
  readonly chosen: ReadonlySet<string>;
  readonly choose: (keys: readonly string[]) => void;
  readonly nameOf: (key: string) => string;
}

export interface Table<Row> {
  /** Absent: the rows are as the screen around them is. */
  readonly of?: Polled<unknown> & { readonly isLast?: boolean };
  /** Undefined: none have come yet. */
  readonly rows: readonly Row[] | undefined;
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  /** In place of a table without rows. */
  readonly empty?: ComponentChildren;
  readonly selection?: Selection | null;
  readonly isMarked?: (row: Row) => boolean;
  /** Below the rows. */
  readonly children?: ComponentChildren;
}

export function DataTable<Row>({ of, rows, columns, keyOf, empty, selection, isMarked, children }: Table<Row>) {
  const table = useRowFocus(rows !== undefined);
  const t = texts.value.table;
  if (!rows) return <Skeleton {...(of && { of })} />;
  if (rows.length === 0) return <>{empty}</>;
  return (
    <section class={`card flush${of ? staleness(of) : ''}`}>
      <table class="rows" ref={table}>
        <thead>
          <tr>
            {selection && (
              <th class="choose" scope="col">
                <Choose name={t.chooseAll} keys={rows.map(keyOf)} of={selection} />
              </th>
            )}
            {columns.map(({ name, place = '' }, index) => (
              <th key={index} class={place} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)} class={isMarked?.(row) || selection?.chosen.has(keyOf(row)) ? 'chosen' : undefined}>
              {selection && (
                <td class="choose">
                  <Choose name={t.choose(selection.nameOf(keyOf(row)))} keys={[keyOf(row)]} of={selection} />
                </td>
              )}
              {columns.map(({ name, place = '', cell }, index) => (
                <td key={index} class={place} data-label={name}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {children}
    </section>
  );
}

function Choose({ name, keys, of }: { name: string; keys: readonly string[]; of: Selection }) {
  const areChosen = keys.every((key) => of.chosen.has(key));
  const toggle = () =>
    of.choose(areChosen ? [...of.chosen].filter((key) => !keys.includes(key)) : [...of.chosen, ...keys]);
  return (
    <label class="check">
      <input type="checkbox" aria-label={name} checked={areChosen} onChange={toggle} />
    </label>
  );
}

/** Nobody acts on what they do not see: what is selected is of this list, and still in it. @param list names it */
export function useSelection(list: string, keys: readonly string[]) {
  const [selected, choose] = useState<readonly string[]>([]);
  useLayoutEffect(() => choose([]), [list]);
  const chosen: ReadonlySet<string> = new Set(keys.filter((key) => selected.includes(key)));
  return { chosen, choose };
}

/** The link of the row that was opened last at each address: after Back it has the focus again. */
const opened = new Map<string, string>();

function useRowFocus(isThere: boolean) {
  const table = useRef<HTMLTableElement>(null);
  useEffect(() => {
    const rows = table.current;
    if (!rows) return;
    const { href } = location;
    const link = [...rows.querySelectorAll<HTMLAnchorElement>('a.row-link')].find(
      (one) => one.href === opened.get(href),
    );
    opened.delete(href);
    link?.focus();
    const remember = ({ target }: Event) => {
      const clicked = target instanceof Element && target.closest<HTMLAnchorElement>('a.row-link');
      if (clicked) opened.set(href, clicked.href);
    };
    // Before the router leaves the address.
    rows.addEventListener('click', remember, { capture: true });
    return () => rows.removeEventListener('click', remember, { capture: true });
  }, [isThere, location.href]);
  return table;
}

interface PagerParts {
  /** Address of the first page; null: this is it. */
  readonly newest: string | null;
  /** Address of the next page; null: there is none. */
  readonly older: string | null;
  readonly shown: number;
}

/** Each page is an address: Back returns to the one before. */
export function Pager({ newest, older, shown }: PagerParts) {
  const t = texts.value.table;
  if (!older && !newest) return null;
  return (
    <nav class="cluster muted pager">
      {newest && (
        <a class="button" href={newest}>
          {t.newest}
        </a>
      )}
      {older && shown === 0 && <span>{t.noneHere}</span>}
      {older && (
        <a class="button" href={older}>
          {t.older}
          <Icon name="next" size={14} />
        </a>
      )}
    </nav>
  );
}
