/** The account's changes, newest first: for History, and for what changed during a delivery. */
import { get, type Result } from '../api/client.js';
import type { Change, Got } from '../api/shapes.js';
import { addressOf } from './addresses.js';
import { type Asking, usePolled } from './polled.js';

export interface Changes {
  readonly changes: readonly Change[];
  /** Of those that are left out, which are earlier; null: none are. */
  readonly next: string | null;
}

const PAGE = 200;
const MOST_PAGES = 5;

interface Span {
  /** ISO time: earlier ones may be left out. Default: as many as are read. */
  readonly since?: string;
  /** Where the page begins. Default: with the newest. */
  readonly before?: string | undefined;
}

export function useChanges({ since = '', before }: Span = {}) {
  const ask = (asking: Asking) => changesOf(since, before, asking);
  return usePolled<Changes>(`changes ${since} ${before}`, ask, { everyMs: 30_000, keepsLast: true });
}

/** The list as it stood right after a change. */
export const historyAddress = (at: string, filters: Readonly<Record<string, string>> = {}) =>
  addressOf('/history', { ...filters, at });

async function changesOf(since: string, first: string | undefined, { signal }: Asking): Promise<Result<Changes>> {
  const changes: Change[] = [];
  let before: string | null | undefined = first;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const query: object = { limit: PAGE, before: before ?? undefined };
    const result: Result<Got<'/api/history'>> = await get('/api/history', { params: { query }, signal });
    if (result.kind !== 'ok') return result;
    changes.push(...result.data.events);
    before = result.data.next;
    if (!before || Date.parse(changes.at(-1)?.at ?? '') < Date.parse(since)) break;
  }
  return { kind: 'ok', data: { changes, next: before ?? null }, etag: null };
}
