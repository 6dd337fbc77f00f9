import { useLocation } from 'preact-iso/router';
import type { ParamsOf } from '../api/shapes.js';
import { Pager } from '../deliveries/pager.js';
import { staleness } from '../parts/freshness.js';
import { Notice } from '../parts/notice.js';
import { ScreenHead } from '../parts/screen-head.js';
import { Skeleton } from '../parts/skeleton.js';
import { useRecoveries } from '../recover/recovering.js';
import { addressOf } from '../state/addresses.js';
import { useChanges } from '../state/changes.js';
import { useGot } from '../state/polled.js';
import { useWebhooks } from '../state/webhooks.js';
import { texts } from '../texts/texts.js';
import { ChangeTable } from './change-table.js';
import { Past } from './past.js';

export function HistoryScreen() {
  const { at = '', before = '' } = useLocation().query;
  const query: ParamsOf<'/api/history'>['query'] = { limit: 50, ...(before && { before }) };
  const page = useGot('/api/history', { query }, { keepsLast: true });
  // As the panel above reads them, too; the rows of an old page know at least each other.
  const known = {
    changes: [...(useChanges().data?.changes ?? []), ...(page.data?.events ?? [])],
    webhooks: useWebhooks().data?.webhooks ?? [],
    recoveries: useRecoveries().data?.recoveries ?? [],
  };
  const { history: t, screens } = texts.value;
  return (
    <>
      <ScreenHead title={screens.history} of={page} />
      <Past at={Number.isNaN(Date.parse(at)) ? null : at} before={before} />
      <div class="section-head">
        <h2>{t.changes}</h2>
      </div>
      {page.data ? (
        <section class={`card flush${staleness(page)}`}>
          {page.data.events.length > 0 ? (
            <ChangeTable changes={page.data.events} at={at} before={before} known={known} />
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
        page.failure === null && <Skeleton lines={6} />
      )}
    </>
  );
}
