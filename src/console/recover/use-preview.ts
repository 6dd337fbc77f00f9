import { useEffect, useState } from 'preact/hooks';
import { type Failure, get } from '../api/client.js';

export const INCLUDED = ['exhausted', 'retrying', 'held', 'missed'] as const;
export type Included = (typeof INCLUDED)[number];

export type PreviewState =
  | { readonly kind: 'counting' }
  | {
      readonly kind: 'counted';
      readonly counts: Readonly<Record<Included, number>>;
      readonly oldest: string | null;
      readonly newest: string | null;
    }
  | { readonly kind: 'failed'; readonly failure: Failure; readonly again: () => void };

/** What a recovery of these webhooks would send, of each kind. */
export function usePreview(webhookIds: readonly number[], { since, until }: { since: string; until?: string }) {
  const [state, setState] = useState<PreviewState>({ kind: 'counting' });
  const [tries, setTries] = useState(0);
  useEffect(() => {
    const stopping = new AbortController();
    setState({ kind: 'counting' });
    const count = async () => {
      const asked = webhookIds.flatMap((id) =>
        INCLUDED.map(async (include) => {
          const params = { path: { id }, query: { since, until, include } };
          return { include, result: await get('/api/webhooks/{id}/recover', { params, signal: stopping.signal }) };
        }),
      );
      const results = await Promise.all(asked);
      const failure = results.map(({ result }) => result).find((result) => result.kind === 'failed');
      const counted = results.flatMap(({ include, result }) =>
        result.kind === 'ok' ? { include, ...result.data } : [],
      );
      if (stopping.signal.aborted) return;
      setState(failure ? { kind: 'failed', failure, again: () => setTries(tries + 1) } : summed(counted));
    };
    void count();
    return () => stopping.abort();
  }, [webhookIds.join(), since, until, tries]);
  return state;
}

interface Counted {
  readonly include: Included;
  readonly count: number;
  readonly oldest: string | null;
  readonly newest: string | null;
}

function summed(all: readonly Counted[]): PreviewState {
  const counts = { exhausted: 0, retrying: 0, held: 0, missed: 0 };
  for (const { include, count } of all) counts[include] += count;
  const times = all
    .flatMap(({ oldest, newest }) => [oldest ?? [], newest ?? []])
    .flat()
    .sort();
  return { kind: 'counted', counts, oldest: times[0] ?? null, newest: times.at(-1) ?? null };
}
