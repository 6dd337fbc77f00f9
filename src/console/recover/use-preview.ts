import { useEffect, useState } from 'preact/hooks';
import { type Failure, get, type Result } from '../api/client.js';
import type { Schema } from '../api/shapes.js';

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
      if (!stopping.signal.aborted) setState(summed(results, () => setTries((made) => made + 1)));
    };
    void count();
    return () => stopping.abort();
  }, [webhookIds.join(), since, until, tries]);
  return state;
}

interface Counted {
  readonly include: Included;
  readonly result: Result<Schema<'RecoveryPreview'>>;
}

function summed(results: readonly Counted[], again: () => void): PreviewState {
  const counts = { exhausted: 0, retrying: 0, held: 0, missed: 0 };
  const times: string[] = [];
  for (const { include, result } of results) {
    if (result.kind === 'failed') return { kind: 'failed', failure: result, again };
    if (result.kind !== 'ok') continue;
    counts[include] += result.data.count;
    times.push(...[result.data.oldest, result.data.newest].filter((time) => time !== null));
  }
  times.sort((a, b) => Date.parse(a) - Date.parse(b));
  return { kind: 'counted', counts, oldest: times[0] ?? null, newest: times.at(-1) ?? null };
}
