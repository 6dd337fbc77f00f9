import { useLocation } from 'preact-iso/router';
import { api, resultOf } from '../api/client.js';
import type { components, operations } from '../api/openapi.js';
import { Pager } from '../deliveries/pager.js';
import { Freshness, staleness } from '../parts/freshness.js';
import { Notice } from '../parts/notice.js';
import { Skeleton } from '../parts/skeleton.js';
import { useRecoveries } from '../recover/recovering.js';
import { addressOf } from '../state/addresses.js';
import { useChanges } from '../state/changes.js';
import { type Asking, usePolled } from '../state/polled.js';
import { useWebhooks } from '../state/webhooks.js';
import { texts } from '../texts/texts.js';
import { ChangeTable } from './change-table.js';
import { Past } from './past.js';

type Query = NonNullable<operations['listHistory']['parameters']['query']>;

export function HistoryScreen() {
  const { at = '', before = '' } = useLocation().query;
  const query: Query = { limit: 50, ...(before && { before }) };
  const ask = (asking: Asking) => resultOf(api.GET('/api/history', { params: { query }, ...asking }));
  const page = usePolled<components['schemas']['HistoryPage']>(`history ${before}`, ask, { keepsLast: true });
  // As the panel above reads them, too; the rows of an old page know at least each other.
  const known = {
    changes: [...(useChanges().data?.changes ?? []), ...(page.data?.events ?? [])],
    webhooks: useWebhooks().data?.webhooks ?? [],
    recoveries: useRecoveries().data?.recoveries ?? [],
  };
  const t = texts.value.history;
  return (
    <>
      <header class="screen-head">
        <h1>{t.title}</h1>
        <Freshness of={page} />
      </header>
      <Past at={Number.isNaN(Date.parse(at)) ? null : at} before={before} />
      <div class="section-head">
        <h2>{t.changes}</h2>
      </div>
      {page.data ? (
        <section class={`card flush${staleness(page)}`}>
          {page.data.events.length > 0 ? (
            <ChangeTable changes={page.data.events} at={at} known={known} />
          ) : (
            <Notice icon="history" title={t.noChanges.title}>
              <p>{t.noChanges.text}</p>
            </Notice>
          )}
          <Pager
            newest={before ? addressOf('/history', { at }) : null}
            older={page.data.next && addressOf('/history', { at, before: page.data.next })}
            shown={page.data.events.length}
          />
        </section>
      ) : (
        <Skeleton lines={6} />
      )}
    </>
  );
}
