/** The account's changes, newest first. */
import { get, type Result } from '../api/client.js';
import type { Change, Got } from '../api/shapes.js';
import { type Asking, usePolled } from '../state/polled.js';

export interface Changes {
  readonly changes: readonly Change[];
  /** Of those that are left out, which are earlier; null: none are. */
  readonly next: string | null;
}

const PAGE = 200;
/** Most changes may be sessions, which are not shown. */
const MOST_PAGES = 5;

/** @param before where the page begins; undefined: with the newest */
export function useChanges(before: string | undefined) {
  const ask = (asking: Asking) => changesOf(before, asking);
  return usePolled<Changes>(`changes ${before}`, ask, { everyMs: 30_000, keepsLast: true });
}

async function changesOf(first: string | undefined, { signal }: Asking): Promise<Result<Changes>> {
  const changes: Change[] = [];
  let before: string | null | undefined = first;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const query: object = { limit: PAGE, before: before ?? undefined };
    const result: Result<Got<'/api/history'>> = await get('/api/history', { params: { query }, signal });
    if (result.kind !== 'ok') return result;
    changes.push(...result.data.events);
    before = result.data.next;
    if (!before) break;
  }
  return { kind: 'ok', data: { changes, next: before ?? null }, etag: null };
}
