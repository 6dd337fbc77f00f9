/** The account's latest changes, newest first: for the slider of History, and for what changed during a delivery. */
import { api, type Result, resultOf } from '../api/client.js';
import type { components } from '../api/openapi.js';
import { addressOf } from './addresses.js';
import { type Asking, usePolled } from './polled.js';

export type Change = components['schemas']['Change'];

export interface Changes {
  readonly changes: readonly Change[];
  /** No earlier ones are left out. */
  readonly isWhole: boolean;
}

const PAGE = 200;
const MOST_PAGES = 5;

/** @param since ISO time: earlier ones may be left out; '': none may, up to the most that is read */
export function useChanges(since = '') {
  const ask = (asking: Asking) => changesSince(since, asking);
  return usePolled<Changes>(`changes ${since}`, ask, { everyMs: 30_000 });
}

/** @param before of the page of changes that stays below */
export const historyAddress = (at: string, before = '') => addressOf('/history', { at, before });

async function changesSince(since: string, { signal = null }: Asking): Promise<Result<Changes>> {
  const changes: Change[] = [];
  let before: string | null = null;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const query: { limit: number; before?: string } = { limit: PAGE, ...(before && { before }) };
    const result: Result<components['schemas']['HistoryPage']> = await resultOf(
      api.GET('/api/history', { params: { query }, signal }),
    );
    if (result.kind !== 'ok') return result;
    changes.push(...result.data.events);
    before = result.data.next;
    if (!before || Date.parse(changes.at(-1)?.at ?? '') < Date.parse(since)) break;
  }
  return { kind: 'ok', data: { changes, isWhole: !before }, etag: null };
}
