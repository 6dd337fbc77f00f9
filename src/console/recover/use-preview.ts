import { useEffect, useState } from 'preact/hooks';
import { api, resultOf } from '../api/client.js';
import type { Included, RecoveryPreview } from '../api/shapes.js';

interface Order {
  readonly since: string;
  readonly until?: string;
  readonly include: readonly Included[];
}

/** What a recovery would send. @returns null: not known yet */
export function usePreview(webhookId: number, { since, until, include }: Order): RecoveryPreview | null {
  const [preview, setPreview] = useState<RecoveryPreview | null>(null);
  const included = include.join(',');
  useEffect(() => {
    const stopping = new AbortController();
    setPreview(null);
    const query = { since, ...(until && { until }), include: included };
    const params = { path: { id: webhookId }, query };
    const call = api.GET('/api/webhooks/{id}/recover', { params, signal: stopping.signal });
    if (included) {
      resultOf(call).then((result) => {
        if (result.kind === 'ok' && !stopping.signal.aborted) setPreview(result.data);
      });
    }
    return () => stopping.abort();
  }, [webhookId, since, until, included]);
  return preview;
}
