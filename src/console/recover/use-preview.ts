import { useEffect, useState } from 'preact/hooks';
import { api, type Failure, resultOf } from '../api/client.js';
import type { Included, RecoveryPreview } from '../api/shapes.js';

interface Order {
  readonly since: string;
  readonly until?: string;
  readonly include: readonly Included[];
}

export type PreviewState =
  | { readonly kind: 'counting' }
  | { readonly kind: 'counted'; readonly preview: RecoveryPreview }
  | { readonly kind: 'failed'; readonly failure: Failure; readonly again: () => void };

/** What a recovery would send. */
export function usePreview(webhookId: number, { since, until, include }: Order): PreviewState {
  const [state, setState] = useState<PreviewState>({ kind: 'counting' });
  const [tries, setTries] = useState(0);
  const included = include.join(',');
  useEffect(() => {
    const stopping = new AbortController();
    setState({ kind: 'counting' });
    const query = { since, ...(until && { until }), include: included };
    const params = { path: { id: webhookId }, query };
    const count = async () => {
      const result = await resultOf(api.GET('/api/webhooks/{id}/recover', { params, signal: stopping.signal }));
      if (stopping.signal.aborted) return;
      if (result.kind === 'ok') setState({ kind: 'counted', preview: result.data });
      if (result.kind === 'failed')
        setState({ kind: 'failed', failure: result, again: () => setTries((made) => made + 1) });
    };
    if (included) void count();
    return () => stopping.abort();
  }, [webhookId, since, until, included, tries]);
  return state;
}
